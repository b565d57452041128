// Tensors of an exchange, and their expected contents.
#pragma once

#include <ucg/api/ucg_moe.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace group_sim {

// Heap memory of exactly the needed size, so that a sanitizer detects every overrun.
class tensor {
public:
    tensor() = default;  // absent
    // `gap`: elements between rows. `experts`: number of experts, if the tensor has three
    // dimensions.
    tensor(ucg_type_t type, std::uint64_t rows, std::uint64_t columns, std::uint32_t gap = 0,
           std::uint64_t experts = 0);

    [[nodiscard]] ucg_moe_tensor_t view() const;
    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::uint64_t columns() const noexcept { return columns_; }
    // Fills the tensor with a pattern that must remain unless something else is expected.
    void spoil();
    // Sets an element and expects it to remain: by the lowest bytes of a word, or by an integer.
    void put_bits(std::uint64_t row, std::uint64_t column, std::uint64_t bits);
    void put(std::uint64_t row, std::uint64_t column, std::int64_t number);
    // Expects an element at the end.
    void expect_bits(std::uint64_t row, std::uint64_t column, std::uint64_t bits);
    void expect(std::uint64_t row, std::uint64_t column, std::int64_t number);
    // Describes the first error; returns an empty string if the contents are correct.
    [[nodiscard]] std::string wrong(const char* name) const;

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
