// Helpers for loops that wait: pause, yield, backoff.
#pragma once

#include <sched.h>

#include <limits>

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

// Backoff of a loop that polls: it pauses, then yields the core, then asks the caller to sleep.
// Value type.
class backoff {
public:
    static constexpr unsigned for_ever = std::numeric_limits<unsigned>::max();
    struct limits {
        unsigned spins = 128;        // pauses
        unsigned yields = for_ever;  // then calls of yield()
    };

    backoff() noexcept : backoff(limits{}) {}
    explicit backoff(const limits& bounds) noexcept : limits_(bounds) {}

    // Waits after a poll that found nothing. Returns true, without waiting, if it is time to sleep.
    bool wait() noexcept {
        if (pauses_ < limits_.spins) {
            ++pauses_;
            pause();
        } else if (yields_ < limits_.yields) {
            if (limits_.yields != for_ever) ++yields_;
            yield();
        } else {
            return true;
        }
        return false;
    }
    // Starts again, after a poll that found something.
    void reset() noexcept { pauses_ = yields_ = 0; }

    // Waits only if the poll before did not move anything.
    void wait_unless(bool moved) noexcept {
        if (moved)
            reset();
        else
            wait();
    }

    // Calls `progress`, which returns whether anything advanced, until `done` returns true. The
    // limits must allow yields for ever.
    template<class Done, class Progress>
    void wait_for(const Done& done, const Progress& progress) noexcept {
        for (reset(); !done();)
            wait_unless(progress());
    }

    // The same, with sleeps if nothing advances for long. Sleeper has prepare(), after which events
    // end the sleep; then either sleep() or, if a last call of `progress` advanced, cancel(). Calls
    // `after_sleep` after each sleep.
    template<class Done, class Progress, class Sleeper, class AfterSleep>
    void wait_for(const Done& done, const Progress& progress, const Sleeper& sleeper,
                  const AfterSleep& after_sleep) noexcept {
        reset();
        while (!done()) {
            if (progress()) {
                reset();
            } else if (wait()) {
                sleeper.prepare();
                if (progress()) {
                    sleeper.cancel();
                    reset();
                } else {
                    sleeper.sleep();
                    after_sleep();
                }
            }
        }
    }

private:
    limits limits_;
    unsigned pauses_ = 0, yields_ = 0;
};

}  // namespace ucs::arch
