// Messages whose bytes identify their sender and their position.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "uct/api/types.hpp"

namespace conformance {

using bytes = std::vector<std::byte>;

// Number of the sending stream and position in it, in the first 8 bytes of a message.
struct tag {
    std::uint32_t stream = 0;
    std::uint32_t number = 0;
    [[nodiscard]] std::uint64_t word() const noexcept {
        return (std::uint64_t{stream} << 32U) | number;
    }
    friend bool operator==(const tag&, const tag&) = default;
};

inline std::byte pattern(std::uint64_t word, std::size_t position) noexcept {
    const std::uint64_t mixed = (word + position * 131) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::byte>(mixed >> 56U);
}

// A message of `length` bytes; below 8 bytes it has a part of the tag only.
inline bytes make_message(tag id, std::size_t length) {
    bytes message(length);
    const std::uint64_t word = id.word();
    const std::size_t of_tag = std::min(length, sizeof word);
    if (of_tag != 0) std::memcpy(message.data(), &word, of_tag);
    for (std::size_t i = of_tag; i < length; ++i)
        message[i] = pattern(word, i);
    return message;
}

inline tag tag_of(const bytes& message) noexcept {
    std::uint64_t word = 0;
    if (message.size() >= sizeof word) std::memcpy(&word, message.data(), sizeof word);
    return {static_cast<std::uint32_t>(word >> 32U), static_cast<std::uint32_t>(word)};
}

}  // namespace conformance
