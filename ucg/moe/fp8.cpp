#include "ucg/moe/fp8.hpp"

#include <bit>
#include <cfloat>
#include <cmath>

#include "ucg/reduce/narrow_float.hpp"

namespace ucg::moe {
namespace {

constexpr float largest = 448;     // of fp8_e4m3
constexpr float smallest = 1e-4F;  // that a group's largest magnitude is taken for

template<class T>
T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

float number(const const_matrix& of, const std::byte* at) noexcept {
    if (of.type == reduce::element::bf16)
        return reduce::widen<reduce::bf16_format>(load<std::uint16_t>(at));
    if (of.type == reduce::element::fp16)
        return reduce::widen<reduce::fp16_format>(load<std::uint16_t>(at));
    return load<float>(at);
}

// The exponent of the smallest power of two that is not below a positive number.
int exponent_above(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<int>(bits >> 23U) - 127 + ((bits & 0x7fffffU) != 0 ? 1 : 0);
}

}  // namespace

void cast_row(const matrix& into, const matrix& scales, std::uint64_t to,
              const const_matrix& source, std::uint64_t from, scaling how) noexcept {
    const std::size_t size = source.element_bytes();
    const std::byte* in = source.row(from);
    std::byte* out = into.row(to);
    for (std::uint32_t group = 0; group < source.elements / scaled_group; ++group) {
        float numbers[scaled_group];
        float most = smallest;
        for (float& each : numbers) {
            each = number(source, in);
            in += size;
            const float magnitude = std::fabs(each);
            // What is not finite must not spoil the others.
            if (magnitude > most && magnitude <= FLT_MAX) most = magnitude;
        }
        float factor = largest / most;
        float scale = most / largest;
        const int exponent = exponent_above(scale);
        if (how != scaling::exact) {
            scale = std::ldexp(1.0F, exponent);
            factor = std::ldexp(1.0F, -exponent);
        }
        for (const float each : numbers) {
            *out = static_cast<std::byte>(reduce::narrow<reduce::e4m3_format>(each * factor));
            out += into.element_stride;
        }
        if (how == scaling::exponent)
            scales.row(to)[static_cast<std::ptrdiff_t>(group) * scales.element_stride] =
                static_cast<std::byte>(exponent + 127);
        else
            put_float(scales, to, group, scale);
    }
}

}  // namespace ucg::moe
