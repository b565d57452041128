// Matrices in memory that somebody else owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ucg/reduce/element.hpp"

namespace ucg::moe {

// Rows of elements, at any distances. A value that points to memory of others; no `data`: the
// matrix is not there.
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
    [[nodiscard]] bool dense_rows() const noexcept {
        return element_stride == static_cast<std::ptrdiff_t>(element_bytes());
    }
    [[nodiscard]] bool dense() const noexcept {
        return dense_rows() && row_stride == static_cast<std::ptrdiff_t>(row_bytes());
    }
    [[nodiscard]] Byte* row(std::uint64_t i) const noexcept {
        return data + static_cast<std::ptrdiff_t>(i) * row_stride;
    }
    // From row `i` on.
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

// A matrix for each expert of a rank, at equal distances.
template<class Byte>
struct basic_stack {
    basic_matrix<Byte> first;          // of expert 0
    std::ptrdiff_t expert_stride = 0;  // bytes

    [[nodiscard]] basic_matrix<Byte> of(std::uint32_t expert) const noexcept {
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

// Rows one after the other.
template<class Byte>
[[nodiscard]] basic_matrix<Byte> dense_matrix(Byte* data, std::uint64_t count,
                                              std::uint32_t elements,
                                              reduce::element type) noexcept {
    const auto size = static_cast<std::ptrdiff_t>(reduce::size_of(type));
    return {data, count, elements, type, size * static_cast<std::ptrdiff_t>(elements), size};
}

// One row into one of as many elements of the same size.
inline void copy_row(const matrix& into, std::uint64_t to, const const_matrix& source,
                     std::uint64_t from) noexcept {
    std::byte* out = into.row(to);
    const std::byte* in = source.row(from);
    if (into.dense_rows() && source.dense_rows()) {
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

// An integer of a matrix of int32 or int64.
[[nodiscard]] inline std::int64_t integer_at(const const_matrix& from, std::uint64_t row,
                                             std::uint32_t element) noexcept {
    const std::byte* const at =
        from.row(row) + static_cast<std::ptrdiff_t>(element) * from.element_stride;
    if (from.type == reduce::element::int32) {
        std::int32_t value;
        std::memcpy(&value, at, sizeof value);
        return value;
    }
    std::int64_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

inline void put_integer(const matrix& into, std::uint64_t row, std::uint32_t element,
                        std::int32_t value) noexcept {
    std::byte* const at =
        into.row(row) + static_cast<std::ptrdiff_t>(element) * into.element_stride;
    if (into.type == reduce::element::int32) {
        std::memcpy(at, &value, sizeof value);
    } else {
        const std::int64_t wide = value;
        std::memcpy(at, &wide, sizeof wide);
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
