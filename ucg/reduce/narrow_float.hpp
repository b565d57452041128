// Floating point in 8 and 16 bits, and conversions to and from fp32.
//
// Formats: IEEE 754 binary16; bfloat16; "OCP 8-bit Floating Point Specification" (OFP8) 1.0. To
// fp32 every value is exact. From fp32 a value is rounded to nearest, ties to even. A value that is
// too large becomes infinity; in 8 bits it becomes the largest value of its sign (the
// specification's saturating mode), so that one overflow of a sum does not invalidate the following
// steps.
//
// All functions are always inlined and call no library function: the callers are compiled for
// several instruction sets, and the code for one of them must not be linked into another one.
#pragma once

#include <cstdint>

namespace ucg::reduce {

// Constants of a format with E exponent bits and M mantissa bits, stored in `Bits`.
template<class Bits, int E, int M>
struct narrow_format {
    using bits = Bits;
    static constexpr int exponent = E;
    static constexpr int mantissa = M;
    static constexpr int bias = (1 << (E - 1)) - 1;
    static constexpr std::uint32_t sign = 1U << (E + M);
    static constexpr std::uint32_t infinity = ((1U << E) - 1)
                                              << M;  // not used by formats without infinity
};
struct fp16_format : narrow_format<std::uint16_t, 5, 10> {
    static constexpr std::uint32_t nan = 0x7e00;
    static constexpr std::uint32_t overflow = infinity;
};
struct bf16_format : narrow_format<std::uint16_t, 8, 7> {
    static constexpr std::uint32_t nan = 0x7fc0;
    static constexpr std::uint32_t overflow = infinity;
};
struct e5m2_format : narrow_format<std::uint8_t, 5, 2> {
    static constexpr std::uint32_t nan = 0x7e;
    static constexpr std::uint32_t overflow = 0x7b;
};
struct e4m3_format : narrow_format<std::uint8_t, 4, 3> {
    static constexpr std::uint32_t nan = 0x7f;  // the only NaN; all other codes are numbers
    static constexpr std::uint32_t overflow = 0x7e;
};

// Returns 2 to the power of `n`, which must be the exponent of a normal number.
[[nodiscard, gnu::always_inline]] constexpr float power_of_two(int n) noexcept {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(n + 127) << 23U);
}

template<class Format>
[[nodiscard, gnu::always_inline]] constexpr float widen(typename Format::bits from) noexcept {
    constexpr int shift = 23 - Format::mantissa;
    const std::uint32_t all = from;
    const std::uint32_t magnitude = all & (Format::sign - 1);
    const std::uint32_t sign = (all & Format::sign) << (31 - Format::exponent - Format::mantissa);
    if constexpr (Format::exponent == 8) {
        return __builtin_bit_cast(float, all << 16U);
    } else {
        // The product corrects the bias, also for subnormal numbers.
        const float number =
            __builtin_bit_cast(float, magnitude << shift) * power_of_two(127 - Format::bias);
        std::uint32_t wide = __builtin_bit_cast(std::uint32_t, number);
        if constexpr (Format::exponent == 4) {
            wide = magnitude == Format::nan ? 0x7fc00000U : wide;
        } else {
            wide = magnitude >= Format::infinity ? (magnitude << shift) | 0x7f800000U : wide;
        }
        return __builtin_bit_cast(float, wide | sign);
    }
}

template<class Format>
[[nodiscard, gnu::always_inline]] constexpr typename Format::bits narrow(float from) noexcept {
    constexpr int shift = 23 - Format::mantissa;
    const std::uint32_t all = __builtin_bit_cast(std::uint32_t, from);
    const std::uint32_t magnitude = all & 0x7fffffffU;
    // Half a unit of the last kept bit, or slightly less if that bit is 0, so that ties round to
    // even.
    const std::uint32_t rounding = (1U << (shift - 1)) - 1 + ((magnitude >> shift) & 1U);
    std::uint32_t made = (magnitude + rounding) >> shift;
    if constexpr (Format::exponent < 8) {
        made -= static_cast<std::uint32_t>(127 - Format::bias) << Format::mantissa;
        // For subnormal results, adding `unit` makes the last bit of the fp32 sum equal to the last
        // bit of the narrow format, so the addition rounds correctly.
        constexpr int last_place = 1 - Format::bias - Format::mantissa;
        const float unit = power_of_two(23 + last_place);
        const std::uint32_t small =
            __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) + unit) -
            __builtin_bit_cast(std::uint32_t, unit);
        const bool is_small = magnitude < static_cast<std::uint32_t>(127 + 1 - Format::bias) << 23U;
        made = is_small ? small : (made > Format::overflow ? Format::overflow : made);
        const bool is_large = magnitude >= 0x7f800000U;
        made = is_large ? Format::overflow : made;
    }
    made = magnitude > 0x7f800000U ? Format::nan : made;
    const std::uint32_t sign = (all >> 31U) << (Format::exponent + Format::mantissa);
    return static_cast<typename Format::bits>(made | sign);
}

}  // namespace ucg::reduce
