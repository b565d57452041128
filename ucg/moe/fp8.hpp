// Rows of fp8_e4m3 with a scale for each 128 elements.
#pragma once

#include <cstdint>

#include "ucg/moe/tensor.hpp"

namespace ucg::moe {

// How a scale is kept. The elements of a group are divided by it before they are rounded, and
// multiplied by it to get them back.
enum class scaling : std::uint8_t {
    exact,         // fp32: the largest magnitude of the group, at least 1e-4, divided by 448
    power_of_two,  // fp32: the smallest power of two not below, so that only the rounding loses
                   // anything
    exponent,      // the same as 8 bits: its exponent, biased by 127
};

inline constexpr std::uint32_t scaled_group = 128;  // elements

[[nodiscard]] constexpr reduce::element scale_type(scaling how) noexcept {
    return how == scaling::exponent ? reduce::element::uint8 : reduce::element::fp32;
}

// Casts one row of bf16, fp16 or fp32, dense and of a multiple of 128 elements. `into`: fp8_e4m3,
// as many; `scales`: a matrix of scale_type() elements, one for each group. Any strides of those.
// Infinities and what is no number do not count for the scale. They become the largest number of
// their sign, and what is no number.
void cast_row(const matrix& into, const matrix& scales, std::uint64_t to,
              const const_matrix& source, std::uint64_t from, scaling how) noexcept;

}  // namespace ucg::moe
