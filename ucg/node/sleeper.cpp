#include "ucg/node/sleeper.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <atomic>
#include <climits>
#include <ctime>

#include "ucs/arch/fence.hpp"

namespace ucg::node {
namespace {

long futex(std::uint32_t& word, int operation, std::uint32_t value,
           const timespec* limit) noexcept {
    return ::syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

}  // namespace

ucs::arch::backoff::limits usual_backoff(rank_t ranks) noexcept {
    return {.spins = exceeds_cores(ranks) ? 0U : 1000U, .yields = 2000};
}

void sleeper::prepare() const noexcept {
    std::atomic_ref(memory_.sleepers()).fetch_add(1, std::memory_order_seq_cst);
    std::atomic_ref(memory_.control_of(rank_).sleeps).store(1, std::memory_order_seq_cst);
    ucs::arch::full_fence();
}

void sleeper::sleep() const noexcept {
    constexpr timespec limit{0, 1'000'000};
    (void)futex(memory_.control_of(rank_).sleeps, FUTEX_WAIT, 1, &limit);
    cancel();
}

void sleeper::cancel() const noexcept {
    std::atomic_ref(memory_.control_of(rank_).sleeps).store(0, std::memory_order_relaxed);
    std::atomic_ref(memory_.sleepers()).fetch_sub(1, std::memory_order_relaxed);
}

void detail::wake_all(const shared_memory& memory, rank_t except) noexcept {
    for (rank_t rank = 0; rank < memory.ranks(); ++rank) {
        std::uint32_t& mark = memory.control_of(rank).sleeps;
        if (rank == except || std::atomic_ref(mark).load(std::memory_order_relaxed) == 0) continue;
        std::atomic_ref(mark).store(0, std::memory_order_relaxed);
        (void)futex(mark, FUTEX_WAKE, INT_MAX, nullptr);
    }
}

}  // namespace ucg::node
