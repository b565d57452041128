// How many messages a receiver may have to keep the announcements of.
#pragma once

#include <cstdint>

namespace ucp {

// Counts the tagged messages that were announced to one worker and that it has not answered. At
// the limit what follows is deferred, and the announcement that reaches the limit says so, with the
// number of the round. A receiver that waits for something else names that round to have another
// batch; a round is over with that, so the same wish twice is one wish. Value type.
class announce_limit {
public:
    explicit announce_limit(std::uint64_t most) noexcept : most_(most), allowed_(most) {}

    [[nodiscard]] bool reached() const noexcept { return count_ >= allowed_; }
    void add() noexcept { ++count_; }
    // One is answered, or gone. What was allowed beyond the limit ends when it is not needed.
    void take_back() noexcept {
        --count_;
        if (count_ < most_) allowed_ = most_;
    }

    // Never 0.
    [[nodiscard]] std::uint32_t round() const noexcept { return round_; }
    // False: that round is over.
    [[nodiscard]] bool raise(std::uint64_t round) noexcept {
        if (round != round_) return false;
        if (++round_ == 0) round_ = 1;
        allowed_ = count_ + most_;
        return true;
    }

private:
    std::uint64_t most_;
    std::uint64_t allowed_;
    std::uint64_t count_ = 0;
    std::uint32_t round_ = 1;
};

}  // namespace ucp
