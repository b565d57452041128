// Views of matrices in memory that the caller owns: rows, strides and element types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ucg/reduce/element.hpp"

namespace ucg::moe {

// Rows of elements with arbitrary strides. A value that does not own the memory it points to. A
// matrix without `data` is absent.
template<class Byte>
struct basic_matrix {
    Byte* data = nullptr;
    std::uint64_t rows = 0;
    std::uint32_t elements = 0;  // of a row
    reduce::element type = reduce::element::bf16;
    std::ptrdiff_t row_stride = 0;      // bytes from a row to the next
    std::ptrdiff_t element_stride = 0;  // bytes from an element to the next

    [[nodiscard]] explicit operator bool() const noexcept { return data != nullptr; }
    [[nodiscard]] std::size_t element_bytes() const noexcept { return reduce::size_of(type); }
    [[nodiscard]] std::size_t row_bytes() const noexcept { return elements * element_bytes(); }
    [[nodiscard]] bool has_dense_rows() const noexcept {
        return element_stride == static_cast<std::ptrdiff_t>(element_bytes());
    }
    [[nodiscard]] bool is_dense() const noexcept {
        return has_dense_rows() && row_stride == static_cast<std::ptrdiff_t>(row_bytes());
    }
    [[nodiscard]] Byte* row(std::uint64_t i) const noexcept {
        return data + static_cast<std::ptrdiff_t>(i) * row_stride;
    }
    // The rows from row `i` to the end.
    [[nodiscard]] basic_matrix from(std::uint64_t i) const noexcept {
        basic_matrix made = *this;
        made.data = row(i);
        made.rows = rows - i;
        return made;
    }
    operator basic_matrix<const std::byte>() const noexcept requires(!std::is_const_v<Byte>) {
        return {data, rows, elements, type, row_stride, element_stride};
    }
};
using matrix = basic_matrix<std::byte>;
using const_matrix = basic_matrix<const std::byte>;

// One matrix for each expert of a rank. The distance between two neighbouring matrices is constant.
template<class Byte>
struct basic_stack {
    basic_matrix<Byte> first;          // of expert 0
    std::ptrdiff_t expert_stride = 0;  // bytes

    [[nodiscard]] basic_matrix<Byte> of_expert(std::uint32_t expert) const noexcept {
        basic_matrix<Byte> made = first;
        made.data += static_cast<std::ptrdiff_t>(expert) * expert_stride;
        return made;
    }
    operator basic_stack<const std::byte>() const noexcept requires(!std::is_const_v<Byte>) {
        return {first, expert_stride};
    }
};
using stack = basic_stack<std::byte>;
using const_stack = basic_stack<const std::byte>;

// A matrix without gaps between rows and elements.
template<class Byte>
[[nodiscard]] basic_matrix<Byte> dense_matrix(Byte* data, std::uint64_t count,
                                              std::uint32_t elements,
                                              reduce::element type) noexcept {
    const auto size = static_cast<std::ptrdiff_t>(reduce::size_of(type));
    return {data, count, elements, type, size * static_cast<std::ptrdiff_t>(elements), size};
}

// Copies one row into a row with the same number of elements of the same size.
inline void copy_row(const matrix& into, std::uint64_t to_row, const const_matrix& source,
                     std::uint64_t from_row) noexcept {
    std::byte* out = into.row(to_row);
    const std::byte* in = source.row(from_row);
    if (into.has_dense_rows() && source.has_dense_rows()) {
        std::memcpy(out, in, source.row_bytes());
        return;
    }
    const std::size_t size = source.element_bytes();
    for (std::uint32_t i = 0; i < source.elements; ++i) {
        std::memcpy(out, in, size);
        out += into.element_stride;
        in += source.element_stride;
    }
}

inline void zero_row(const matrix& into, std::uint64_t row) noexcept {
    std::byte* out = into.row(row);
    for (std::uint32_t i = 0; i < into.elements; ++i, out += into.element_stride)
        std::memset(out, 0, into.element_bytes());
}

// Returns an element of a matrix of int32 or int64.
[[nodiscard]] inline std::int64_t integer_at(const const_matrix& from, std::uint64_t row,
                                             std::uint32_t element) noexcept {
    const std::byte* const address =
        from.row(row) + static_cast<std::ptrdiff_t>(element) * from.element_stride;
    if (from.type == reduce::element::int32) {
        std::int32_t value;
        std::memcpy(&value, address, sizeof value);
        return value;
    }
    std::int64_t value;
    std::memcpy(&value, address, sizeof value);
    return value;
}

inline void put_integer(const matrix& into, std::uint64_t row, std::uint32_t element,
                        std::int32_t value) noexcept {
    std::byte* const address =
        into.row(row) + static_cast<std::ptrdiff_t>(element) * into.element_stride;
    if (into.type == reduce::element::int32) {
        std::memcpy(address, &value, sizeof value);
    } else {
        const std::int64_t wide = value;
        std::memcpy(address, &wide, sizeof wide);
    }
}

[[nodiscard]] inline float float_at(const const_matrix& from, std::uint64_t row,
                                    std::uint32_t element) noexcept {
    float value;
    std::memcpy(&value, from.row(row) + static_cast<std::ptrdiff_t>(element) * from.element_stride,
                sizeof value);
    return value;
}

inline void put_float(const matrix& into, std::uint64_t row, std::uint32_t element,
                      float value) noexcept {
    std::memcpy(into.row(row) + static_cast<std::ptrdiff_t>(element) * into.element_stride, &value,
                sizeof value);
}

}  // namespace ucg::moe
