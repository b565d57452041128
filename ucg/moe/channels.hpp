// Pieces of a rank's tokens that travel one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace ucg::moe {

// `channels` ranges of neighbouring tokens, of equal length but for the last ones, which may be
// short or empty: none is shorter than `least`, where there are others after it. Value.
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
    [[nodiscard]] std::uint32_t of(std::uint32_t token) const noexcept { return token / length_; }

private:
    std::uint32_t tokens_;
    std::uint32_t length_;
};

// The channels of a stream that have rows, in order. While one is worked on the next one is under
// way, in other memory: `turn` says in which of two. Value; the counts are borrowed.
class channel_walk {
public:
    struct stop {
        std::uint32_t channel;
        std::uint32_t count;  // of rows; 0: behind the last one
        unsigned turn;
    };
    explicit channel_walk(std::span<const std::uint32_t> counts) noexcept
        : counts_(counts), now_(from(0)), next_(from(now_ + 1)) {}

    [[nodiscard]] explicit operator bool() const noexcept { return now_ < counts_.size(); }
    [[nodiscard]] stop now() const noexcept { return at(now_, turn_); }
    [[nodiscard]] stop next() const noexcept { return at(next_, turn_ ^ 1U); }
    void operator++() noexcept {
        now_ = next_;
        next_ = from(now_ + 1);
        turn_ ^= 1U;
    }

private:
    [[nodiscard]] std::uint32_t from(std::uint32_t channel) const noexcept {
        while (channel < counts_.size() && counts_[channel] == 0)
            ++channel;
        return channel;
    }
    [[nodiscard]] stop at(std::uint32_t channel, unsigned turn) const noexcept {
        return {channel, channel < counts_.size() ? counts_[channel] : 0, turn};
    }
    std::span<const std::uint32_t> counts_;
    std::uint32_t now_, next_;
    unsigned turn_ = 0;
};

}  // namespace ucg::moe
