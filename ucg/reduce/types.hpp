// The table of element types: the C++ type or bit format behind each name, in memory and in
// computations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/reduce/element.hpp"
#include "ucg/reduce/narrow_float.hpp"

namespace ucg::reduce {

template<class T>
struct complex_of {
    T real;
    T imaginary;
};

template<class T>
struct value_at {
    T value;
    std::int32_t location;
};

// Each type has a family, a type in memory (`stored`), a type during a computation (`worked`), and
// conversions.
enum class family : std::uint8_t { integer, real, complex, with_location };

// Returns whether the operation is defined for the types of a family.
[[nodiscard]] constexpr bool is_defined(family kind, operation op) noexcept {
    switch (op) {
        case operation::sum:
        case operation::product:
        case operation::average:
            return kind != family::with_location;
        case operation::minimum:
        case operation::maximum:
            return kind == family::integer || kind == family::real;
        case operation::minimum_at:
        case operation::maximum_at:
            return kind == family::with_location;
        default:
            return kind == family::integer;
    }
}

template<family Family, class T>
struct plain {
    static constexpr family kind = Family;
    using stored = T;
    using worked = T;
    [[gnu::always_inline]] static constexpr worked take(stored from) noexcept { return from; }
    [[gnu::always_inline]] static constexpr stored give(worked from) noexcept { return from; }
};

template<class Format>
struct narrow_real {
    static constexpr family kind = family::real;
    using format = Format;
    using stored = typename Format::bits;
    using worked = float;
    [[gnu::always_inline]] static constexpr worked take(stored from) noexcept {
        return widen<Format>(from);
    }
    [[gnu::always_inline]] static constexpr stored give(worked from) noexcept {
        return narrow<Format>(from);
    }
};

template<class T>
using integer = plain<family::integer, T>;
template<class T>
using real = plain<family::real, T>;
template<class T>
using complex = plain<family::complex, complex_of<T>>;
template<class T>
using with_location = plain<family::with_location, value_at<T>>;

// clang-format off
// X(enumerator, type).
#define UCG_REDUCE_TYPES(X)                    \
    X(int8, integer<std::int8_t>)              \
    X(int16, integer<std::int16_t>)            \
    X(int32, integer<std::int32_t>)            \
    X(int64, integer<std::int64_t>)            \
    X(uint8, integer<std::uint8_t>)            \
    X(uint16, integer<std::uint16_t>)          \
    X(uint32, integer<std::uint32_t>)          \
    X(uint64, integer<std::uint64_t>)          \
    X(fp16, narrow_real<fp16_format>)          \
    X(bf16, narrow_real<bf16_format>)          \
    X(fp8_e4m3, narrow_real<e4m3_format>)      \
    X(fp8_e5m2, narrow_real<e5m2_format>)      \
    X(fp32, real<float>)                       \
    X(fp64, real<double>)                      \
    X(complex32, complex<float>)               \
    X(complex64, complex<double>)              \
    X(int16_at, with_location<std::int16_t>)   \
    X(int32_at, with_location<std::int32_t>)   \
    X(int64_at, with_location<std::int64_t>)   \
    X(fp32_at, with_location<float>)           \
    X(fp64_at, with_location<double>)
// clang-format on

// Calls `visitor` with an object of the table's type for `type`, and returns its result.
// Precondition: `type` is an enumerator.
template<class Visitor>
[[gnu::always_inline]] inline auto visit(element type, const Visitor& visitor) {
    switch (type) {
#define UCG_REDUCE_CASE(name, ...) \
    case element::name:            \
        return visitor(__VA_ARGS__{});
        UCG_REDUCE_TYPES(UCG_REDUCE_CASE)
#undef UCG_REDUCE_CASE
    }
    __builtin_unreachable();
}

}  // namespace ucg::reduce
