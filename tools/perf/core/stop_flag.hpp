// How the threads of a test learn that it cannot be finished.
#pragma once

#include <atomic>
#include <exception>

namespace tools::perf {

// Set once by whoever finds out (connection watch, a thread that failed), read by every waiting
// loop. Any thread.
class stop_flag {
public:
    void request() noexcept { requested_.store(true, std::memory_order_release); }
    [[nodiscard]] bool requested() const noexcept {
        return requested_.load(std::memory_order_acquire);
    }

private:
    std::atomic<bool> requested_{false};
};

// Thrown by waiting loops when the flag is set; the reason is told elsewhere.
class stopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "the test was stopped"; }
};

}  // namespace tools::perf
