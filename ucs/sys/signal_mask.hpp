// Blocks signals for threads of the library.
#pragma once

#include <csignal>

namespace ucs::sys {

// Blocks all signals in the calling thread during its lifetime. A new thread inherits the mask of
// its creator, so threads that the library creates meanwhile leave signals to the program's
// threads.
class all_signals_blocked {
public:
    all_signals_blocked() noexcept {
        sigset_t all;
        sigfillset(&all);
        (void)::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~all_signals_blocked() { (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    all_signals_blocked(const all_signals_blocked&) = delete;
    all_signals_blocked& operator=(const all_signals_blocked&) = delete;

private:
    sigset_t before_{};
};

}  // namespace ucs::sys
