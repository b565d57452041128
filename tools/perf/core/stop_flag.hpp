// How the threads of a test learn that it cannot be finished.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

namespace tools::perf {

// A thread that may sleep where it does not see the flag.
class sleeper {
public:
    // Ends its sleep, or the next one if it is awake. Any thread.
    virtual void wake() noexcept = 0;

protected:
    ~sleeper() = default;
};

// Set once by whoever finds out (connection watch, a thread that failed), read by every waiting
// loop. Any thread.
class stop_flag {
public:
    void request() noexcept {
        requested_.store(true, std::memory_order_release);
        const std::lock_guard guard(lock_);
        for (sleeper* each : sleepers_)
            each->wake();
    }
    [[nodiscard]] bool requested() const noexcept {
        return requested_.load(std::memory_order_acquire);
    }

    // It is woken by each request until it is removed. It has to look at the flag before it sleeps:
    // a request that came before is not told again.
    void add(sleeper& one) {
        const std::lock_guard guard(lock_);
        sleepers_.push_back(&one);
    }
    void remove(sleeper& one) noexcept {
        const std::lock_guard guard(lock_);
        std::erase(sleepers_, &one);
    }

private:
    std::atomic<bool> requested_{false};
    std::mutex lock_;
    std::vector<sleeper*> sleepers_;
};

// Thrown by waiting loops when the flag is set; the reason is told elsewhere.
class stopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "the test was stopped"; }
};

}  // namespace tools::perf
