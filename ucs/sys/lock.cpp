#include "ucs/sys/lock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucs/sys/pause.hpp"

namespace ucs::sys {
namespace {

// A running holder releases the lock within some hundred nanoseconds. A holder that was preempted
// on this core needs the core.
constexpr arch::backoff::limits before_sleep{.spins = 64, .yields = 16};

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
    static_assert(sizeof(word) == sizeof(std::uint32_t));
    (void)::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

void recursive_lock::lock_slow() noexcept {
    for (arch::backoff pauses(before_sleep); !pauses.wait();) {
        if (state_.load(std::memory_order_relaxed) == free && try_lock()) return;
    }
    // Take the lock as contended, because other threads may sleep as well.
    while (state_.exchange(contended, std::memory_order_acquire) != free) {
        futex(state_, FUTEX_WAIT_PRIVATE, contended);
    }
    take(this_thread());
}

void recursive_lock::wake_one() noexcept {
    futex(state_, FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace ucs::sys
