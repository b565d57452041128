// Tells the threads of a test to give up.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

namespace tools::perf {

// A thread that may sleep without checking the flag.
class sleeper {
public:
    // Ends the thread's sleep, or its next sleep if it is awake. Any thread.
    virtual void wake() noexcept = 0;

protected:
    ~sleeper() = default;
};

// The thread that detects the problem (the connection watch, or a thread that failed) sets it once.
// Every waiting loop checks it. Any thread.
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

    // Adds a sleeper, which each request wakes until it is removed. The sleeper must check the flag
    // before it sleeps, because earlier requests do not wake it.
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

// Waiting loops throw this if the flag is set. The reason is reported elsewhere.
class stopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "the test was stopped"; }
};

}  // namespace tools::perf
