// Rows of bf16 in 10 bits a value: a sign, and one of 511 magnitudes or 0. The magnitudes of 128
// values are equally far from each other in their logarithm.
//
// Bytes of a group of 128 values; a row is one group after the other:
//
//    0  top     2 bytes, bf16: the largest magnitude; 0: there is none
//    2  bottom  2 bytes, bf16: the smallest one but 0
//    4  low     128 bytes: of each value the low 8 bits of its code
//  132  high    32 bytes: bits 2q and 2q + 1 of byte j are the ninth bit of the code of value
//               32q + j, and its sign
//
//  value of a code     top * 2^((code - 511) * step); code 0: 0, or with a sign no number
//  step                min(log2(top / bottom), 32) / 510
//
// So code 511 is top, exactly, and code 1 is bottom, or 2^-32 top where bottom is less. The encoder
// takes the code whose value is nearest, of two as near the larger one. It is off by no more than
// step * ln 2 / 2 of the number, and by 2^-33 top where that is smaller than 2^-32 top. Infinities,
// and what is no number, do not count for top and bottom, and come back as no number.
//
// Unlike in DeepEP no group is left as it was: all rows have the same length, so that whoever
// receives them knows it beforehand.
//
// Neither way calls a function of a library, and both are compiled without fused instructions: the
// same bits on every machine. Bytes from a peer can be any: values of a finite top are no larger
// than it, or no number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/moe/tensor.hpp"

namespace ucg::moe {

inline constexpr std::uint32_t logfmt_group = 128;      // values
inline constexpr std::size_t logfmt_group_bytes = 164;  // 10.25 bits a value
inline constexpr std::uint32_t logfmt_octaves = 32;     // from top down
inline constexpr std::uint32_t logfmt_largest = 511;    // code

[[nodiscard]] constexpr std::size_t logfmt_row_bytes(std::uint32_t elements) noexcept {
    return elements / logfmt_group * logfmt_group_bytes;
}

// One row of bf16, of a multiple of 128 elements at any distances. Into logfmt_row_bytes().
void logfmt_encode(std::byte* into, const const_matrix& source, std::uint64_t row) noexcept;

// One group; exactly as fp32.
void logfmt_decode(const std::byte* from, float (&into)[logfmt_group]) noexcept;

}  // namespace ucg::moe
