// Element types and operations of reductions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucg::reduce {

enum class element : std::uint8_t {
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    fp16,      // IEEE 754 binary16
    bf16,      // the upper half of fp32
    fp8_e4m3,  // OCP: no infinities, largest 448
    fp8_e5m2,  // OCP: largest 57,344
    fp32,
    fp64,
    complex32,  // two fp32, real part first
    complex64,  // two fp64
    // A value and its location (MPI's MINLOC and MAXLOC), with the layout of a C struct. The
    // location has 32 bits.
    int16_at,
    int32_at,
    int64_at,
    fp32_at,
    fp64_at,
};
inline constexpr std::size_t element_count = 21;

enum class operation : std::uint8_t {
    sum,
    product,
    minimum,
    maximum,
    average,      // the sum is divided once, before it is rounded to the element type
    logical_and,  // this and the next five: integers only; the result of a logical one is 0 or 1
    logical_or,
    logical_xor,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    minimum_at,  // elements with a location; of equal values the one with the lower location
    maximum_at,
};
inline constexpr std::size_t operation_count = 13;

// Bytes of one element, in memory and on the network.
[[nodiscard]] std::size_t size_of(element type) noexcept;

// Returns whether the operation is defined for the element type.
[[nodiscard]] bool is_defined(element type, operation op) noexcept;

[[nodiscard]] const char* name(element type) noexcept;
[[nodiscard]] const char* name(operation op) noexcept;

}  // namespace ucg::reduce
