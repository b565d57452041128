// Helpers for loops that wait: pause, yield, backoff.
#pragma once

#include <sched.h>

namespace ucs::arch {

// Tells the core that a loop spins, to save power and leave resources to its hyper-thread sibling.
inline void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

// Yields the core to another runnable thread.
inline void yield() noexcept {
    (void)::sched_yield();
}

// Backoff for waiting loops: pauses first, then yields the core. For short waits; after longer ones
// the caller should sleep on a descriptor or a futex.
class backoff {
public:
    // Waits once. Returns true while it only pauses; false once it yields.
    bool wait() noexcept {
        if (rounds_ < spin_rounds) {
            ++rounds_;
            pause();
            return true;
        }
        yield();
        return false;
    }
    void reset() noexcept { rounds_ = 0; }

private:
    static constexpr unsigned spin_rounds = 128;
    unsigned rounds_ = 0;
};

}  // namespace ucs::arch
