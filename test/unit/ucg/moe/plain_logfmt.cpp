// Reference implementation of LogFMT. Compiled without fused multiply-add instructions, as the
// library is.
#include "test/unit/ucg/moe/plain_logfmt.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace test::moe {
namespace {

float number(std::uint32_t bf16) {
    const std::uint32_t bits = bf16 << 16U;
    float made;
    std::memcpy(&made, &bits, sizeof made);
    return made;
}

// Computes 2 artanh(s) / ln 2 with s = (m - 1) / (m + 1), by the terms of the series up to s^7.
float logarithm(float value) {
    int exponent = 0;
    float m = std::frexp(value, &exponent);
    if (m < std::sqrt(0.5F)) {
        m *= 2;
        --exponent;
    }
    const float s = (m - 1) / (m + 1);
    const float t = s * s;
    float series = 1.0F / 7;
    for (const float divisor : {5.0F, 3.0F, 1.0F})
        series = 1.0F / divisor + t * series;
    return static_cast<float>(exponent) + s * series * static_cast<float>(2 / std::log(2.0));
}

// The Taylor series up to the sixth power, for the difference to the nearest integer.
float power(float exponent) {
    const float whole = std::nearbyint(exponent);
    const float f = exponent - whole;
    static const std::array<double, 7> factor = [] {
        std::array<double, 7> made{1};
        for (std::size_t i = 1; i < 7; ++i)
            made[i] = made[i - 1] * std::log(2.0) / static_cast<double>(i);
        return made;
    }();
    float sum = static_cast<float>(factor[6]);
    for (std::size_t i = 6; i-- > 0;)
        sum = static_cast<float>(factor[i]) + f * sum;
    return std::ldexp(sum, static_cast<int>(whole));
}

float step_of(float top, float bottom) {
    const double ratio = static_cast<double>(bottom) / static_cast<double>(top);
    float octaves = 32;
    if (ratio > std::ldexp(1.0, -32)) octaves = -logarithm(static_cast<float>(ratio));
    return std::min(std::max(octaves, 0.0F), 32.0F) / 510;
}

}  // namespace

float plain_value(const plain_group& group, std::uint32_t code, bool sign) {
    if (code == 0) return sign ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
    const float value = number(group.top) * power(-(static_cast<float>(511 - code) * group.step));
    return sign ? -value : value;
}

plain_group plain_encode(const std::vector<std::uint16_t>& bf16) {
    plain_group made;
    for (const std::uint16_t bits : bf16) {
        const auto magnitude = static_cast<std::uint16_t>(bits & 0x7fffU);
        if (magnitude == 0 || !std::isfinite(number(magnitude))) continue;
        if (made.top == 0) made.top = made.bottom = magnitude;
        made.top = std::max(made.top, magnitude);
        made.bottom = std::min(made.bottom, magnitude);
    }
    if (made.top != 0) made.step = step_of(number(made.top), number(made.bottom));
    std::vector<double> values(512);
    for (std::uint32_t code = 1; code < 512 && made.top != 0; ++code)
        values[code] = static_cast<double>(plain_value(made, code, false));
    for (const std::uint16_t bits : bf16) {
        const float magnitude = number(bits & 0x7fffU);
        std::uint32_t best = 0;
        if (std::isfinite(magnitude) && magnitude != 0) {
            best = 511;
            const auto off = [&](std::uint32_t code) {
                return std::fabs(static_cast<double>(magnitude) - values[code]);
            };
            for (std::uint32_t code = 511; code-- > 0;)
                if (off(code) < off(best)) best = code;
        }
        made.codes.push_back(best);
        made.signs.push_back(std::isfinite(magnitude) ? best != 0 && (bits & 0x8000U) != 0 : true);
    }
    return made;
}

std::vector<float> plain_logfmt(const std::vector<std::uint16_t>& bf16) {
    std::vector<float> made;
    for (std::size_t first = 0; first < bf16.size(); first += 128) {
        const auto begin = bf16.begin() + static_cast<std::ptrdiff_t>(first);
        const plain_group group = plain_encode({begin, begin + 128});
        for (std::size_t i = 0; i < 128; ++i)
            made.push_back(plain_value(group, group.codes[i], group.signs[i]));
    }
    return made;
}

}  // namespace test::moe
