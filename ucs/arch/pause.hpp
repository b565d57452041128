// Hints for loops that wait.
#pragma once

#include <sched.h>

namespace ucs::arch {

// Tells the core that a loop spins: it saves power and leaves a hyper-thread sibling room.
inline void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

// Gives the core to another thread that can run.
inline void yield() noexcept {
    (void)::sched_yield();
}

// Waiting with patience: pauses first, then yields the core. For loops whose end is near; what
// may take long sleeps on a descriptor or a futex afterwards.
class backoff {
public:
    // True while pausing was enough; false once it has begun to yield.
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
