#include "ucp/wakeup/wait.hpp"

#include <poll.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucs/sys/pause.hpp"

namespace ucp::wakeup {

namespace {

// Polls for work between two polls of the descriptors, which need a system call, and between two
// yields.
constexpr unsigned polls_per_yield = 32;

bool readable(int fd, int timeout_ms) noexcept {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, timeout_ms) == 1;
}

bool has_work(worker& owner) noexcept {
    const worker_guard guard(owner.lock());
    return owner.has_work();
}

enum class found { nothing, work, descriptor };

found spin(worker& owner, ucs::time::nanoseconds budget) noexcept {
    const ucs::time::nanoseconds end = ucs::time::now() + budget;
    do {
        for (unsigned i = 0; i < polls_per_yield; ++i) {
            if (has_work(owner)) return found::work;
            ucs::arch::pause();
        }
        if (readable(owner.events().fd(), 0)) return found::descriptor;
        // If there are more processes than processors, the peer may need this processor.
        ucs::arch::yield();
    } while (ucs::time::now() < end);
    return found::nothing;
}

ucs_status_t sleep_on(int fd) noexcept {
    pollfd one{fd, POLLIN, 0};
    while (::poll(&one, 1, -1) < 0) {
        if (errno == EINTR) continue;
        ucs::log::error(core_log, "a worker cannot sleep, poll() failed: {}", std::strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

// The next progress also checks the descriptors, and so finds the event. The caller holds the lock.
void after_wakeup(worker& owner) noexcept {
    owner.schedule().look_everywhere();
    // The signal has served its purpose, unless others have not received it yet.
    owner.schedule().clear_wakeup();
}

}  // namespace

void yield_if_due(worker& owner) noexcept {
    idling& state = slot_of<idling>(owner);
    if (!state.yield_due.load(std::memory_order_relaxed)) return;
    if (!state.yield_due.exchange(false, std::memory_order_relaxed)) return;
    const ucs::time::nanoseconds began = ucs::time::now();
    ucs::arch::yield();
    const worker_guard guard(owner.lock());
    state.yields.learn(began, ucs::time::now());
}

ucs_status_t wait(worker& owner) noexcept {
    ucs::time::nanoseconds budget = 0;
    {
        const worker_guard guard(owner.lock());
        budget = slot_of<idling>(owner).spinning.next();
    }
    if (budget > 0) {
        const found result = spin(owner, budget);
        const worker_guard guard(owner.lock());
        slot_of<idling>(owner).spinning.learn(result != found::nothing);
        // Work that every progress polls is found without a system call.
        if (result == found::descriptor ||
            (result == found::work && !owner.interfaces().has_polled_work())) {
            after_wakeup(owner);
        }
        if (result != found::nothing) return UCS_OK;
    }
    ucs_status_t status = UCS_OK;
    {
        const worker_guard guard(owner.lock());
        status = owner.arm();
        if (status == UCS_OK) owner.schedule().begin_sleep();
    }
    if (status == UCS_ERR_BUSY) return UCS_OK;
    if (status != UCS_OK) return status;
    status = sleep_on(owner.events().fd());
    const worker_guard guard(owner.lock());
    owner.schedule().end_sleep();
    return status;
}

void wait_for_memory(worker& owner, const void* address) noexcept {
    // Peers write to the byte meanwhile; this function only reads it.
    const std::atomic_ref byte(*static_cast<unsigned char*>(const_cast<void*>(address)));
    const unsigned char before = byte.load(std::memory_order_relaxed);
    unsigned i = 0;
    ucs::arch::backoff pauses({.spins = 1024, .yields = 1});
    while (byte.load(std::memory_order_acquire) == before &&
           (i++ % polls_per_yield != 0 || !has_work(owner)) && !pauses.wait()) {
    }
}

}  // namespace ucp::wakeup
