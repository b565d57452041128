// Tensors of an exchange, and their expected contents.
#pragma once

#include <fmt/format.h>
#include <ucg/api/ucg_moe.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ucg/reference/values.hpp"

namespace group_sim {

// Heap memory of exactly the needed size, so that a sanitizer detects every overrun.
class tensor {
public:
    tensor() = default;  // absent
    // `gap`: elements between rows. `experts`: number of experts, if the tensor has three
    // dimensions.
    tensor(ucg_type_t type, std::uint64_t rows, std::uint64_t columns, std::uint32_t gap = 0,
           std::uint64_t experts = 0)
        : type_(type),
          rows_(rows),
          columns_(columns),
          experts_(experts),
          gap_(gap),
          size_(ucg_type_size(type)),
          bytes_(rows == 0 ? 0 : offset(rows - 1, columns)),
          memory_(bytes_ == 0 ? nullptr : new std::byte[bytes_]) {
        spoil();
    }

    [[nodiscard]] ucg_moe_tensor_t view() const {
        ucg_moe_tensor_t made = UCG_MOE_TENSOR_INIT;
        if (type_ == UCG_TYPE_LAST) return made;
        made.data = memory_.get();
        made.type = type_;
        const auto element = static_cast<std::int64_t>(size_);
        const auto row = static_cast<std::int64_t>(offset(1, 0));
        if (experts_ == 0) {
            made.ndims = 2;
            made.dims[0] = rows_;
            made.dims[1] = columns_;
            made.strides[0] = row;
            made.strides[1] = element;
            return made;
        }
        made.ndims = 3;
        made.dims[0] = experts_;
        made.dims[1] = rows_ / experts_;
        made.dims[2] = columns_;
        made.strides[0] = row * static_cast<std::int64_t>(made.dims[1]);
        made.strides[1] = row;
        made.strides[2] = element;
        return made;
    }
    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::uint64_t columns() const noexcept { return columns_; }
    // Fills the tensor with a pattern that must remain unless something else is expected.
    void spoil() {
        std::fill_n(memory_.get(), bytes_, std::byte{0xa5});
        expected_.assign(bytes_, std::byte{0xa5});
    }
    // Sets an element and expects it to remain: by the lowest bytes of a word, or by an integer.
    void put_bits(std::uint64_t row, std::uint64_t column, std::uint64_t bits) {
        std::memcpy(memory_.get() + offset(row, column), &bits, size_);
        expect_bits(row, column, bits);
    }
    void put(std::uint64_t row, std::uint64_t column, std::int64_t number) {
        ucg::reference::store(type_, memory_.get() + offset(row, column),
                              {static_cast<double>(number), 0});
        expect(row, column, number);
    }
    // Expects an element at the end.
    void expect_bits(std::uint64_t row, std::uint64_t column, std::uint64_t bits) {
        std::memcpy(expected_.data() + offset(row, column), &bits, size_);
    }
    void expect(std::uint64_t row, std::uint64_t column, std::int64_t number) {
        ucg::reference::store(type_, expected_.data() + offset(row, column),
                              {static_cast<double>(number), 0});
    }
    // Describes the first error; returns an empty string if the contents are correct.
    [[nodiscard]] std::string wrong(const char* name) const {
        for (std::size_t i = 0; i < bytes_; ++i) {
            if (memory_[i] == expected_[i]) continue;
            const std::size_t row = i / offset(1, 0), place = i % offset(1, 0);
            return fmt::format("byte {} of element {} of row {} of {} in {} is {:#x}, not {:#x}",
                               place % size_, place / size_, row, rows_, name,
                               std::to_integer<int>(memory_[i]),
                               std::to_integer<int>(expected_[i]));
        }
        return {};
    }

private:
    [[nodiscard]] std::size_t offset(std::uint64_t row, std::uint64_t column) const noexcept {
        return (row * (columns_ + gap_) + column) * size_;
    }

    ucg_type_t type_ = UCG_TYPE_LAST;
    std::uint64_t rows_ = 0, columns_ = 0, experts_ = 0;
    std::uint32_t gap_ = 0;
    std::size_t size_ = 0, bytes_ = 0;
    std::unique_ptr<std::byte[]> memory_;
    std::vector<std::byte> expected_;
};

}  // namespace group_sim
