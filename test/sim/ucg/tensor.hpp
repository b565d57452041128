// Rows of numbers that an exchange reads or writes, and what must be in them in the end.
#pragma once

#include <ucg/api/ucg_moe.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace group_sim {

// Heap memory of exactly the size that is needed, so that a sanitizer sees each byte too far.
class tensor {
public:
    tensor() = default;  // it is not there
    // `gap`: elements between rows. `experts`: that the rows are dealt to, where it has three
    // dimensions.
    tensor(ucg_type_t type, std::uint64_t rows, std::uint64_t columns, std::uint32_t gap = 0,
           std::uint64_t experts = 0);

    [[nodiscard]] ucg_moe_tensor_t view() const;
    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::uint64_t columns() const noexcept { return columns_; }
    // Bytes that nothing of an exchange looks like; they must stay so.
    void spoil();
    // Here, and to be here in the end: the lowest bytes of a word, or a whole number.
    void put_bits(std::uint64_t row, std::uint64_t column, std::uint64_t bits);
    void put(std::uint64_t row, std::uint64_t column, std::int64_t number);
    // To be here in the end.
    void expect_bits(std::uint64_t row, std::uint64_t column, std::uint64_t bits);
    void expect(std::uint64_t row, std::uint64_t column, std::int64_t number);
    // Empty: all is as it must be.
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
