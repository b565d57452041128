#include "test/sim/ucg/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ucg/reference/values.hpp"

namespace group_sim {

tensor::tensor(ucg_type_t type, std::uint64_t rows, std::uint64_t columns, std::uint32_t gap,
               std::uint64_t experts)
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

ucg_moe_tensor_t tensor::view() const {
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

void tensor::spoil() {
    std::fill_n(memory_.get(), bytes_, std::byte{0xa5});
    expected_.assign(bytes_, std::byte{0xa5});
}

void tensor::put_bits(std::uint64_t row, std::uint64_t column, std::uint64_t bits) {
    std::memcpy(memory_.get() + offset(row, column), &bits, size_);
    expect_bits(row, column, bits);
}

void tensor::put(std::uint64_t row, std::uint64_t column, std::int64_t number) {
    ucg::reference::store(type_, memory_.get() + offset(row, column),
                          {static_cast<double>(number), 0});
    expect(row, column, number);
}

void tensor::expect_bits(std::uint64_t row, std::uint64_t column, std::uint64_t bits) {
    std::memcpy(expected_.data() + offset(row, column), &bits, size_);
}

void tensor::expect(std::uint64_t row, std::uint64_t column, std::int64_t number) {
    ucg::reference::store(type_, expected_.data() + offset(row, column),
                          {static_cast<double>(number), 0});
}

std::string tensor::wrong(const char* name) const {
    for (std::size_t i = 0; i < bytes_; ++i) {
        if (memory_[i] == expected_[i]) continue;
        const std::size_t row = i / offset(1, 0), place = i % offset(1, 0);
        return fmt::format("byte {} of element {} of row {} of {} in {} is {:#x}, not {:#x}",
                           place % size_, place / size_, row, rows_, name,
                           std::to_integer<int>(memory_[i]), std::to_integer<int>(expected_[i]));
    }
    return {};
}

}  // namespace group_sim
