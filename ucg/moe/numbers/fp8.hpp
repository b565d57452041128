// Casts rows to fp8_e4m3 with one scale for each 128 elements.
#pragma once

#include <cstdint>

#include "ucg/moe/tensor.hpp"

namespace ucg::moe {

// Format of a scale. The cast divides the elements of a group by the scale before it rounds them; a
// reader multiplies them by the scale.
enum class scaling : std::uint8_t {
    exact,         // fp32: the largest magnitude of the group, at least 1e-4, divided by 448
    power_of_two,  // fp32: the exact scale rounded up to a power of two, so that only the
                   // rounding of elements loses precision
    exponent,      // as power_of_two, stored in 8 bits: the exponent plus 127
};

inline constexpr std::uint32_t scaled_group = 128;  // elements

[[nodiscard]] constexpr reduce::element scale_type(scaling format) noexcept {
    return format == scaling::exponent ? reduce::element::uint8 : reduce::element::fp32;
}

// Casts one row of bf16, fp16 or fp32. The row is dense and has a multiple of 128 elements. `into`
// has as many elements of fp8_e4m3. `scales` has one element of scale_type() for each group. Both
// may have any strides. Infinities and NaNs do not affect the scale. An infinity becomes the
// largest finite number of its sign; a NaN stays a NaN.
void cast_row(const matrix& into, const matrix& scales, std::uint64_t to_row,
              const const_matrix& source, std::uint64_t from_row, scaling format) noexcept;

}  // namespace ucg::moe
