#include "ucg/moe/fp8.hpp"

#include <bit>
#include <cmath>

#include "ucg/reduce/narrow_float.hpp"

namespace ucg::moe {
namespace {

constexpr float largest = 448;   // of fp8_e4m3
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

void cast_row(const matrix& into, const matrix& scales, std::uint64_t to, const const_matrix& source,
              std::uint64_t from, scaling how) noexcept {
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
            most = magnitude > most ? magnitude : most;
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

void widen_row(float* into, const const_matrix& source, const const_matrix& scales,
               std::uint64_t from) noexcept {
    const std::byte* at = source.row(from);
    for (std::uint32_t i = 0; i < source.elements; ++i, at += source.element_stride) {
        const std::uint32_t group = i / scaled_group;
        const float scale =
            scales.type == reduce::element::fp32
                ? float_at(scales, from, group)
                : std::ldexp(1.0F, static_cast<int>(scales.row(
                                       from)[static_cast<std::ptrdiff_t>(group) *
                                             scales.element_stride]) -
                                       127);
        into[i] = reduce::widen<reduce::e4m3_format>(static_cast<std::uint8_t>(*at)) * scale;
    }
}

}  // namespace ucg::moe
