#include "ucg/reduce/narrow_float.hpp"

#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <limits>

using namespace ucg::reduce;

namespace {

// Returns the number that the bits stand for by the specification of the format.
template<class Format>
double meaning(std::uint32_t bits) {
    constexpr int m = Format::mantissa;
    const double sign = (bits & Format::sign) != 0 ? -1 : 1;
    const std::uint32_t magnitude = bits & (Format::sign - 1);
    const int exponent = static_cast<int>(magnitude >> m);
    const int fraction = static_cast<int>(magnitude & ((1U << m) - 1));
    const bool last = exponent == (1 << Format::exponent) - 1;
    if (Format::exponent == 4) {
        if (magnitude == Format::nan) return std::numeric_limits<double>::quiet_NaN();
    } else if (last) {
        return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    }
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - Format::bias - m);
    return sign * std::ldexp(fraction + (1 << m), exponent - Format::bias - m);
}

bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// The number of bit patterns.
template<class Format>
constexpr std::uint32_t codes = Format::sign * 2;

// The bits of the largest finite number.
template<class Format>
constexpr std::uint32_t largest =
    Format::overflow == Format::infinity ? Format::infinity - 1 : Format::overflow;

}  // namespace

TEMPLATE_TEST_CASE("each narrow number is converted to fp32 exactly", "", fp16_format, bf16_format,
                   e5m2_format, e4m3_format) {
    for (std::uint32_t bits = 0; bits < codes<TestType>; ++bits) {
        const auto from = static_cast<typename TestType::bits>(bits);
        if (!same(widen<TestType>(from), meaning<TestType>(bits))) FAIL("bits " << bits);
    }
}

TEMPLATE_TEST_CASE("each narrow number is unchanged after conversion to fp32 and back", "",
                   fp16_format, bf16_format, e5m2_format, e4m3_format) {
    for (std::uint32_t bits = 0; bits < codes<TestType>; ++bits) {
        const auto from = static_cast<typename TestType::bits>(bits);
        const float wide = widen<TestType>(from);
        const auto back = narrow<TestType>(wide);
        if (std::isnan(wide)) {
            if (!std::isnan(widen<TestType>(back))) FAIL("NaN became " << +back);
        } else if (std::isinf(wide) && TestType::overflow != TestType::infinity) {
            if ((back & (TestType::sign - 1)) != TestType::overflow) FAIL("infinity " << +back);
        } else if (back != from) {
            FAIL("bits " << bits << " became " << +back);
        }
    }
}

TEMPLATE_TEST_CASE("values are rounded to the nearest narrow number, ties to even", "", fp16_format,
                   bf16_format, e5m2_format, e4m3_format) {
    const auto to_bits = [](double value) { return +narrow<TestType>(static_cast<float>(value)); };
    for (std::uint32_t lower = 0; lower < largest<TestType>; ++lower) {
        const double a = meaning<TestType>(lower), b = meaning<TestType>(lower + 1);
        const auto middle = static_cast<float>((a + b) / 2);
        REQUIRE(static_cast<double>(middle) == (a + b) / 2);
        const std::uint32_t even = lower + (lower & 1U);
        const float below = std::nextafterf(middle, 0), above = std::nextafterf(middle, INFINITY);
        if (static_cast<std::uint32_t>(to_bits(middle)) != even ||
            static_cast<std::uint32_t>(to_bits(below)) != lower ||
            static_cast<std::uint32_t>(to_bits(above)) != lower + 1 ||
            static_cast<std::uint32_t>(to_bits(-above)) != ((lower + 1) | TestType::sign)) {
            FAIL("above " << lower);
        }
    }
}

TEMPLATE_TEST_CASE(
    "values that are too large become infinity in 16 bits and the largest number in 8 bits", "",
    fp16_format, bf16_format, e5m2_format, e4m3_format) {
    const auto to_bits = [](float value) -> std::uint32_t { return narrow<TestType>(value); };
    const double most = meaning<TestType>(largest<TestType>);
    const double step = most - meaning<TestType>(largest<TestType> - 1);
    CHECK(to_bits(static_cast<float>(most)) == largest<TestType>);
    CHECK(to_bits(static_cast<float>(most + step * 0.49)) == largest<TestType>);
    for (const float large : {static_cast<float>(most + step / 2), FLT_MAX, INFINITY}) {
        CHECK(to_bits(large) == TestType::overflow);
        CHECK(to_bits(-large) == (TestType::overflow | TestType::sign));
    }
    CHECK(to_bits(NAN) == TestType::nan);
    CHECK(to_bits(0.0F) == 0);
    CHECK(to_bits(-0.0F) == TestType::sign);
    CHECK(to_bits(FLT_TRUE_MIN) == (TestType::exponent == 8 ? to_bits(0.0F) : 0));
}
