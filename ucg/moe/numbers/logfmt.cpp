// Encoder and decoder of compressed rows. This file is compiled without fused multiply-add
// instructions, which round differently, so that all machines compute the same bits. Loops over a
// group have no branches, so that compilers vectorize them.
#include "ucg/moe/numbers/logfmt.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ucg/reduce/narrow_float.hpp"

namespace ucg::moe {
namespace {

constexpr std::uint32_t magnitude_bits = 0x7fff;  // of bf16
constexpr std::uint32_t infinity = reduce::bf16_format::infinity;
constexpr std::size_t low_offset = 4;
constexpr std::size_t high_offset = low_offset + logfmt_group;
constexpr std::uint32_t columns = logfmt_group / 4;  // bytes of `high`
static_assert(high_offset + columns == logfmt_group_bytes);

float to_float(std::uint32_t bits) noexcept {
    return reduce::widen<reduce::bf16_format>(static_cast<std::uint16_t>(bits));
}

// Returns the logarithm of a positive normal number. For other arguments the result is some number
// below 256.
[[gnu::always_inline]] inline float log2_of(float value) noexcept {
    // Split off a power of two, so that the rest lies between the roots of 1/2 and of 2.
    constexpr std::uint32_t root = 0x3f3504f3;
    constexpr std::uint32_t one = 0x3f800000;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) + (one - root);
    const auto exponent = static_cast<std::int32_t>(bits >> 23U) - 127;
    const float left = std::bit_cast<float>((bits & 0x7fffffU) + root);
    // The series of ln x = 2 artanh((x - 1) / (x + 1)).
    const float s = (left - 1) / (left + 1);
    const float t = s * s;
    const float series = 1 + t * (1.0F / 3 + t * (1.0F / 5 + t * (1.0F / 7)));
    return static_cast<float>(exponent) + s * series * 2.88539008F;  // 2 / ln 2
}

// Returns 2^x for x from -32 to 0. The result for 0 is exactly 1.
[[gnu::always_inline]] inline float exp2_of(float x) noexcept {
    constexpr float rounder =
        0x1.8p23F;  // adding it rounds to an integer, which the lowest bits hold
    const float rounded = x + rounder;
    const float f = x - (rounded - rounder);
    // The Taylor series: powers of ln 2 divided by factorials.
    const float part =
        1 + f * (0.693147182F +
                 f * (0.240226507F +
                      f * (5.55041087e-2F +
                           f * (9.61812911e-3F + f * (1.33335581e-3F + f * 1.54035304e-4F)))));
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(rounded) << 23U) +
                                std::bit_cast<std::uint32_t>(part));
}

// The range of magnitudes of a group.
struct scale {
    float top;
    float step;

    scale(std::uint32_t top_bits, std::uint32_t bottom_bits) noexcept
        : top(to_float(top_bits & magnitude_bits)) {
        const float octaves = -log2_of(relative(to_float(bottom_bits & magnitude_bits)));
        step = std::clamp(octaves, 0.0F, static_cast<float>(logfmt_octaves)) /
               static_cast<float>(logfmt_largest - 1);
    }
    // Returns magnitude / top. The factor `lift` keeps both operands normal numbers wherever the
    // quotient matters.
    [[nodiscard, gnu::always_inline]] float relative(float magnitude) const noexcept {
        const float lift = top < 0x1p-64F ? 0x1p64F : 1.0F;
        return (magnitude * lift) / (top * lift);
    }
    // Returns the magnitude `steps` steps below the top.
    [[nodiscard, gnu::always_inline]] float below(std::int32_t steps) const noexcept {
        return top * exp2_of(-(static_cast<float>(steps) * step));
    }
};

struct codes {
    std::uint32_t code[logfmt_group];
    std::uint32_t sign[logfmt_group];  // 0 or 1
};

// The logarithm gives a position between two codes; the nearest code is one of these two.
void find_codes(const std::uint32_t (&bits)[logfmt_group], const scale& group_scale,
                codes& made) noexcept {
    constexpr auto lowest = static_cast<std::int32_t>(logfmt_largest) - 1;  // steps
    const float per_octave = group_scale.step > 0 ? 1 / group_scale.step : 0.0F;
    for (std::uint32_t i = 0; i < logfmt_group; ++i) {
        const std::uint32_t magnitude = bits[i] & magnitude_bits;
        const float value = std::bit_cast<float>(magnitude << 16U);
        float position = -log2_of(group_scale.relative(value)) * per_octave;
        position = position > 0 ? position : 0.0F;
        position = position < static_cast<float>(lowest) ? position : static_cast<float>(lowest);
        const auto steps = static_cast<std::int32_t>(position);
        const float above = group_scale.below(steps);
        const float below = steps == lowest ? 0.0F : group_scale.below(steps + 1);
        const bool is_below = std::fabs(value - below) < std::fabs(above - value);
        const std::uint32_t code = logfmt_largest - static_cast<std::uint32_t>(steps) -
                                   static_cast<std::uint32_t>(is_below);
        const bool is_finite = magnitude < infinity;
        made.code[i] = magnitude != 0 && is_finite ? code : 0;
        // Code 0 with a sign encodes NaN, so a zero is encoded without its sign.
        const std::uint32_t sign = made.code[i] != 0 ? bits[i] >> 15U : 0U;
        made.sign[i] = is_finite ? sign : 1U;
    }
}

void encode_group(std::byte* into, const std::uint32_t (&bits)[logfmt_group]) noexcept {
    constexpr auto none = static_cast<std::int32_t>(infinity);
    std::int32_t top = 0;
    std::int32_t bottom = none;
    for (const std::uint32_t each : bits) {
        const auto magnitude = static_cast<std::int32_t>(each & magnitude_bits);
        top = std::max(top, magnitude < none ? magnitude : 0);
        bottom = std::min(bottom, magnitude != 0 ? magnitude : none);
    }
    if (top == 0) bottom = 0;
    const std::uint16_t ends[2] = {static_cast<std::uint16_t>(top),
                                   static_cast<std::uint16_t>(bottom)};
    std::memcpy(into, ends, sizeof ends);
    codes made;
    find_codes(bits, scale(ends[0], ends[1]), made);
    for (std::uint32_t i = 0; i < logfmt_group; ++i)
        into[low_offset + i] = static_cast<std::byte>(made.code[i]);
    for (std::uint32_t j = 0; j < columns; ++j) {
        std::uint32_t high = 0;
        for (std::uint32_t q = 0; q < 4; ++q)
            high |= (made.code[columns * q + j] >> 8U | made.sign[columns * q + j] << 1U) << 2 * q;
        into[high_offset + j] = static_cast<std::byte>(high);
    }
}

}  // namespace

void logfmt_encode(std::byte* into, const const_matrix& source, std::uint64_t row) noexcept {
    const std::byte* from = source.row(row);
    for (std::uint32_t group = 0; group < source.elements / logfmt_group; ++group) {
        std::uint32_t bits[logfmt_group];
        for (std::uint32_t& each : bits) {
            std::uint16_t value;
            std::memcpy(&value, from, sizeof value);
            each = value;
            from += source.element_stride;
        }
        encode_group(into, bits);
        into += logfmt_group_bytes;
    }
}

void logfmt_decode(const std::byte* from, float (&into)[logfmt_group]) noexcept {
    constexpr std::uint32_t no_number = 0x7fc00000;
    std::uint16_t ends[2];
    std::uint8_t low[logfmt_group], high[columns];
    std::memcpy(ends, from, sizeof ends);
    std::memcpy(low, from + low_offset, sizeof low);
    std::memcpy(high, from + high_offset, sizeof high);
    const scale group_scale(ends[0], ends[1]);
    for (std::uint32_t q = 0; q < 4; ++q) {
        for (std::uint32_t j = 0; j < columns; ++j) {
            const std::uint32_t more = static_cast<std::uint32_t>(high[j]) >> 2 * q;
            const std::uint32_t code = low[columns * q + j] | (more & 1U) << 8U;
            const std::uint32_t sign = (more & 2U) << 30U;
            const float value = group_scale.below(static_cast<std::int32_t>(logfmt_largest - code));
            const std::uint32_t number = std::bit_cast<std::uint32_t>(value) | sign;
            const std::uint32_t none = sign != 0 ? no_number : 0;
            into[columns * q + j] = std::bit_cast<float>(code != 0 ? number : none);
        }
    }
}

}  // namespace ucg::moe
