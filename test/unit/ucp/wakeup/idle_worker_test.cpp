// An idle worker offers its processor to other threads.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "test/support/virtual_time.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/wakeup/wait.hpp"
#include "uct/base/builtin.hpp"

namespace {

std::atomic<unsigned> yields{0};

}  // namespace

// Replaces the function of the C library in this program, to count its calls.
extern "C" int sched_yield() noexcept {
    yields.fetch_add(1, std::memory_order_relaxed);
    return static_cast<int>(::syscall(SYS_sched_yield));
}

TEST_CASE("an idle worker yields its processor in each thread mode", "[wakeup]") {
    const test::virtual_time clock;
    const auto context = ucp_test::make_context({&uct::self_component()}, {});
    ucp::worker_params params;
    params.thread_mode = GENERATE(UCS_THREAD_MODE_SINGLE, UCS_THREAD_MODE_MULTI);
    const auto worker = std::move(*ucp::worker::create(*context, params));
    const unsigned before = yields.load();
    constexpr unsigned turns = 10'000;
    for (unsigned i = 0; i < turns; ++i) {
        test::virtual_time::now += ucs::time::microsecond;
        if (worker->progress() == 0) ucp::wakeup::yield_if_due(*worker);
    }
    const unsigned count = yields.load() - before;
    CHECK(count > 0);
    // No other thread uses the yields, so they become rare.
    CHECK(count <= turns * ucs::time::microsecond / ucp::wakeup::yield_schedule::longest + 16);
}
