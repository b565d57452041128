// Channels: the ranges of a rank's tokens that are sent one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace ucg::moe {

// Cuts the tokens into `channels` ranges of equal length. The last ranges may be shorter or empty.
// A range that other tokens follow has at least `least` tokens. Value.
class channel_ranges {
public:
    channel_ranges(std::uint32_t tokens, std::uint32_t channels, std::uint32_t least) noexcept
        : tokens_(tokens),
          length_(std::max({(tokens + channels - 1) / channels, least, std::uint32_t{1}})) {}

    [[nodiscard]] std::uint32_t begin(std::uint32_t channel) const noexcept {
        return static_cast<std::uint32_t>(
            std::min<std::uint64_t>(std::uint64_t{channel} * length_, tokens_));
    }
    [[nodiscard]] std::uint32_t end(std::uint32_t channel) const noexcept {
        return begin(channel + 1);
    }
    [[nodiscard]] std::uint32_t channel_of(std::uint32_t token) const noexcept {
        return token / length_;
    }

private:
    std::uint32_t tokens_;
    std::uint32_t length_;
};

// Iterates over the channels of a stream that have rows. Two buffers alternate: while the exchange
// works on one channel in one buffer, the next channel is in flight in the other buffer. Value. The
// caller keeps `counts` alive.
class channel_walk {
public:
    struct position {
        std::uint32_t channel;
        std::uint32_t count;  // rows; 0: there are no further channels
        unsigned buffer;
    };
    explicit channel_walk(std::span<const std::uint32_t> counts) noexcept
        : counts_(counts), current_(first_used_from(0)), next_(first_used_from(current_ + 1)) {}

    [[nodiscard]] explicit operator bool() const noexcept { return current_ < counts_.size(); }
    [[nodiscard]] position current() const noexcept { return position_of(current_, buffer_); }
    [[nodiscard]] position next() const noexcept { return position_of(next_, buffer_ ^ 1U); }
    void operator++() noexcept {
        current_ = next_;
        next_ = first_used_from(current_ + 1);
        buffer_ ^= 1U;
    }

private:
    [[nodiscard]] std::uint32_t first_used_from(std::uint32_t channel) const noexcept {
        while (channel < counts_.size() && counts_[channel] == 0)
            ++channel;
        return channel;
    }
    [[nodiscard]] position position_of(std::uint32_t channel, unsigned buffer) const noexcept {
        return {channel, channel < counts_.size() ? counts_[channel] : 0, buffer};
    }
    std::span<const std::uint32_t> counts_;
    std::uint32_t current_, next_;
    unsigned buffer_ = 0;
};

}  // namespace ucg::moe
