// The parts of a row (weights, scales, values) and the layout of rows in messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ucg/moe/form_hash.hpp"
#include "ucg/moe/tensor.hpp"

namespace ucg::moe {

// A message holds the first part of all its rows without gaps, then the second part of all rows,
// then the third. This order keeps each part aligned for its elements.
enum part : std::uint8_t { weights, scales, values };
inline constexpr std::size_t part_count = 3;

// Matrices with the same number of rows. An absent matrix has 0 elements. A matrix without rows
// has elements, but may have a null pointer as data.
template<class Rows>
using parts_of = std::array<Rows, part_count>;
using parts = parts_of<matrix>;
using const_parts = parts_of<const_matrix>;

[[nodiscard]] inline const_parts constant(const parts& from) noexcept {
    return {from[weights], from[scales], from[values]};
}

// Number of elements and element type of each part. Value.
class record {
public:
    record() = default;
    explicit record(const const_parts& like) noexcept {
        for (std::size_t i = 0; i < part_count; ++i) {
            elements_[i] = like[i].elements;
            types_[i] = like[i].type;
        }
    }

    [[nodiscard]] std::size_t part_bytes(std::size_t which) const noexcept {
        return elements_[which] * reduce::size_of(types_[which]);
    }
    [[nodiscard]] std::size_t row_bytes() const noexcept {
        return part_bytes(weights) + part_bytes(scales) + part_bytes(values);
    }
    [[nodiscard]] bool has_only_values() const noexcept {
        return elements_[weights] == 0 && elements_[scales] == 0;
    }

    [[nodiscard]] form_hash mixed_into(form_hash before) const noexcept {
        for (std::size_t i = 0; i < part_count; ++i)
            before = before.with(elements_[i], elements_[i] != 0 ? types_[i] : reduce::element{});
        return before;
    }

    // Views a message of `count` rows.
    template<class Byte>
    [[nodiscard]] parts_of<basic_matrix<Byte>> view(Byte* message,
                                                    std::uint32_t count) const noexcept {
        parts_of<basic_matrix<Byte>> made;
        for (std::size_t i = 0; i < part_count; ++i) {
            made[i] = dense_matrix(message, count, elements_[i], types_[i]);
            message += count * part_bytes(i);
        }
        return made;
    }

private:
    std::array<std::uint32_t, part_count> elements_{};
    std::array<reduce::element, part_count> types_{};
};

}  // namespace ucg::moe
