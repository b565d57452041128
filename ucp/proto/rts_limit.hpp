// Sender's limit on RTS messages that one receiver has to store.
#pragma once

#include <cstdint>

namespace ucp {

// Counts the tagged RTS messages to one worker that it has not replied to. At the limit, the sender
// defers further messages. The RTS that reaches the limit carries the number of the current round.
// If the receiver waits for a message that may be deferred, it names that round to allow another
// batch. That ends the round, so a repeated request for the same round has no effect. Value type.
class rts_limit {
public:
    explicit rts_limit(std::uint64_t limit) noexcept : limit_(limit), allowed_(limit) {}

    [[nodiscard]] bool is_reached() const noexcept { return count_ >= allowed_; }
    void add() noexcept { ++count_; }
    // Call when an RTS gets its reply or its send ends. An allowance above the limit ends as soon
    // as it is not needed.
    void remove() noexcept {
        --count_;
        if (count_ < limit_) allowed_ = limit_;
    }

    // Returns the current round, never 0.
    [[nodiscard]] std::uint32_t round() const noexcept { return round_; }
    // Allows another batch. Returns false if `round` is over.
    [[nodiscard]] bool raise(std::uint64_t round) noexcept {
        if (round != round_) return false;
        if (++round_ == 0) round_ = 1;
        allowed_ = count_ + limit_;
        return true;
    }

private:
    std::uint64_t limit_;
    std::uint64_t allowed_;
    std::uint64_t count_ = 0;
    std::uint32_t round_ = 1;
};

}  // namespace ucp
