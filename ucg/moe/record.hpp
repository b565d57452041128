// What belongs to a row, and how rows lie in messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ucg/moe/form_hash.hpp"
#include "ucg/moe/tensor.hpp"

namespace ucg::moe {

// In the order in which they lie in a message: each part of all its rows, dense, then the next one.
// So each part is aligned for its elements.
enum part : std::uint8_t { weights, scales, values };
inline constexpr std::size_t part_count = 3;

// Matrices with the same rows; those that are not there have no elements. One without rows has
// elements nevertheless, and may have no data.
template<class Rows>
using parts_of = std::array<Rows, part_count>;
using parts = parts_of<matrix>;
using const_parts = parts_of<const_matrix>;

[[nodiscard]] inline const_parts constant(const parts& from) noexcept {
    return {from[weights], from[scales], from[values]};
}

// Elements and types of the parts. Value.
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
    [[nodiscard]] bool only_values() const noexcept {
        return elements_[weights] == 0 && elements_[scales] == 0;
    }

    [[nodiscard]] form_hash mixed_into(form_hash before) const noexcept {
        for (std::size_t i = 0; i < part_count; ++i)
            before = before.with(elements_[i], elements_[i] != 0 ? types_[i] : reduce::element{});
        return before;
    }

    // A message of so many rows.
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
