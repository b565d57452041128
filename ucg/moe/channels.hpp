// Pieces of a rank's tokens that travel one after the other.
#pragma once

#include <algorithm>
#include <cstdint>

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

}  // namespace ucg::moe
