#include "ucg/moe/numbers/fp8.hpp"

#include <bit>
#include <cfloat>
#include <cmath>

#include "ucg/reduce/narrow_float.hpp"

namespace ucg::moe {
namespace {

constexpr float largest = 448;     // largest fp8_e4m3 number
constexpr float smallest = 1e-4F;  // lower limit of a group's largest magnitude

template<class T>
T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

float number(const const_matrix& tensor, const std::byte* address) noexcept {
    if (tensor.type == reduce::element::bf16)
        return reduce::widen<reduce::bf16_format>(load<std::uint16_t>(address));
    if (tensor.type == reduce::element::fp16)
        return reduce::widen<reduce::fp16_format>(load<std::uint16_t>(address));
    return load<float>(address);
}

// Returns the exponent of the smallest power of two that is at least `value`, which is positive.
int exponent_above(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<int>(bits >> 23U) - 127 + ((bits & 0x7fffffU) != 0 ? 1 : 0);
}

}  // namespace

void cast_row(const matrix& into, const matrix& scales, std::uint64_t to_row,
              const const_matrix& source, std::uint64_t from_row, scaling format) noexcept {
    const std::size_t size = source.element_bytes();
    const std::byte* in = source.row(from_row);
    std::byte* out = into.row(to_row);
    for (std::uint32_t group = 0; group < source.elements / scaled_group; ++group) {
        float numbers[scaled_group];
        float most = smallest;
        for (float& each : numbers) {
            each = number(source, in);
            in += size;
            const float magnitude = std::fabs(each);
            // An element that is not finite must not affect the scale of the other elements.
            if (magnitude > most && magnitude <= FLT_MAX) most = magnitude;
        }
        float factor = largest / most;
        float scale = most / largest;
        const int exponent = exponent_above(scale);
        if (format != scaling::exact) {
            scale = std::ldexp(1.0F, exponent);
            factor = std::ldexp(1.0F, -exponent);
        }
        for (const float each : numbers) {
            *out = static_cast<std::byte>(reduce::narrow<reduce::e4m3_format>(each * factor));
            out += into.element_stride;
        }
        if (format == scaling::exponent)
            scales.row(to_row)[static_cast<std::ptrdiff_t>(group) * scales.element_stride] =
                static_cast<std::byte>(exponent + 127);
        else
            put_float(scales, to_row, group, scale);
    }
}

}  // namespace ucg::moe
