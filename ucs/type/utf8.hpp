// Validates UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace ucs {

// Returns the number of bytes of the UTF-8 sequence at the beginning of `text`, which must not be
// empty. Returns 0 if there is none: also for an overlong encoding, a surrogate, or a code point
// above the highest one.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
    // The smallest code point for each length of a sequence.
    constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    const auto first = static_cast<unsigned char>(text.front());
    if (first < 0x80) return 1;
    const std::size_t length = (first & 0xE0U) == 0xC0U   ? 2
                               : (first & 0xF0U) == 0xE0U ? 3
                               : (first & 0xF8U) == 0xF0U ? 4
                                                          : 0;
    if (length == 0 || length > text.size()) return 0;
    char32_t code = first & (0x7FU >> length);
    for (const char each : text.substr(1, length - 1)) {
        const auto byte = static_cast<unsigned char>(each);
        if ((byte & 0xC0U) != 0x80U) return 0;
        code = (code << 6U) | (byte & 0x3FU);
    }
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < smallest[length] || is_surrogate || code > 0x10FFFF ? 0 : length;
}

}  // namespace ucs
