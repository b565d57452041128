// Counts messages in flight.
#pragma once

#include <atomic>

namespace tools::perf {

// Counts the messages of one direction. The owner's thread starts them. Callbacks end them, one at
// a time, on any thread that progresses a shared worker. No locked instruction per message. A
// message may end before it is started: it may arrive before the owner waits for it.
class in_flight {
public:
    void started() noexcept { ++started_; }
    void ended_at_once() noexcept { --started_; }
    void ended_by_callback() noexcept {
        ended_.store(ended_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    [[nodiscard]] unsigned count() const noexcept {
        const auto left = static_cast<int>(started_ - ended_.load(std::memory_order_acquire));
        return left > 0 ? static_cast<unsigned>(left) : 0;
    }

private:
    unsigned started_ = 0;  // both wrap around
    std::atomic<unsigned> ended_{0};
};

}  // namespace tools::perf
