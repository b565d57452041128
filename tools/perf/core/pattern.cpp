#include "tools/perf/core/pattern.hpp"

#include <algorithm>
#include <cstring>

namespace tools::perf {
namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);

// A bijection that spreads adjacent inputs over all bits. Both sides of a test must have the same
// one.
constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    value ^= value >> 31;
    value *= 0x7fb5d329728ea185U;
    value ^= value >> 27;
    value *= 0x81dadef4bc2dd44dU;
    return value ^ (value >> 33);
}

}  // namespace

pattern::pattern(std::uint32_t stream, std::uint64_t iteration) noexcept
    : seed_(mix(mix(iteration + 1) + stream)) {}

std::uint64_t pattern::word(std::size_t index) const noexcept {
    return mix(seed_ + index * 0x9e3779b97f4a7c15U);
}

std::byte pattern::at(std::size_t offset) const noexcept {
    const std::uint64_t value = word(offset / word_size);
    return static_cast<std::byte>((value >> (8 * (offset % word_size))) & 0xff);
}

void pattern::fill(std::span<std::byte> piece, std::size_t offset) const noexcept {
    std::size_t done = 0;
    while (done < piece.size()) {
        const std::size_t position = offset + done;
        if (position % word_size == 0 && piece.size() - done >= word_size) {
            const std::uint64_t value = word(position / word_size);
            std::memcpy(&piece[done], &value, word_size);
            done += word_size;
        } else {
            piece[done++] = at(position);
        }
    }
}

std::optional<std::size_t> pattern::find_difference(std::span<const std::byte> piece,
                                                    std::size_t offset) const noexcept {
    std::size_t done = 0;
    while (done < piece.size()) {
        const std::size_t position = offset + done;
        if (position % word_size == 0 && piece.size() - done >= word_size) {
            const std::uint64_t value = word(position / word_size);
            if (std::memcmp(&piece[done], &value, word_size) == 0) {
                done += word_size;
                continue;
            }
        }
        if (piece[done] != at(position)) return position;
        ++done;
    }
    return std::nullopt;
}

}  // namespace tools::perf
