// Which signals a thread takes.
#pragma once

#include <csignal>

namespace ucs::sys {

// Blocks all signals in the calling thread while it lives. A thread inherits the mask of its
// creator, so threads of the library that are created meanwhile leave signals to the program's.
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
