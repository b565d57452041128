// Compressed rows (logfmt): bf16 rows in 10 bits for each value, a sign and one of 511 magnitudes
// or 0. The logarithms of the magnitudes of a group of 128 values are equidistant.
//
// Bytes of a group of 128 values; a row is a sequence of groups:
//
//    0  top     2 bytes, bf16: the largest finite magnitude; 0 if there is none
//    2  bottom  2 bytes, bf16: the smallest magnitude above 0
//    4  low     128 bytes: the low 8 bits of the code of each value
//  132  high    32 bytes: bits 2q and 2q + 1 of byte j are the ninth bit of the code of value
//               32q + j, and its sign
//
//  value of a code     top * 2^((code - 511) * step); code 0: 0, or NaN if the sign is set
//  step                min(log2(top / bottom), 32) / 510
//
// So code 511 is exactly top, and code 1 is bottom, or 2^-32 top if bottom is smaller. The encoder
// takes the code with the nearest value, and the larger one of two equally near values. The error
// is at most step * ln 2 / 2 of the value, and at most 2^-33 top for values below 2^-32 top.
// Infinities and NaNs do not affect top and bottom, and are decoded as NaN.
//
// DeepEP leaves some groups uncompressed; this format compresses every group. So all rows have the
// same length, which the receiver knows beforehand.
//
// The encoder and the decoder call no library function and are compiled without fused multiply-add
// instructions, so that all machines compute the same bits. The decoder accepts any bytes from a
// peer: if top is finite, a decoded value is NaN or has at most the magnitude of top.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/moe/tensor.hpp"

namespace ucg::moe {

inline constexpr std::uint32_t logfmt_group = 128;      // values
inline constexpr std::size_t logfmt_group_bytes = 164;  // 10.25 bits a value
inline constexpr std::uint32_t logfmt_octaves = 32;     // range of codes below top
inline constexpr std::uint32_t logfmt_largest = 511;    // code

[[nodiscard]] constexpr std::size_t logfmt_row_bytes(std::uint32_t elements) noexcept {
    return elements / logfmt_group * logfmt_group_bytes;
}

// Encodes one row of bf16 into logfmt_row_bytes() bytes. The row has a multiple of 128 elements and
// any stride between elements.
void logfmt_encode(std::byte* into, const const_matrix& source, std::uint64_t row) noexcept;

// Decodes one group to fp32 without rounding.
void logfmt_decode(const std::byte* from, float (&into)[logfmt_group]) noexcept;

}  // namespace ucg::moe
