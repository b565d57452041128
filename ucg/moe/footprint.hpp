// The memory that a tensor occupies, and a test whether two tensors overlap.
#pragma once

#include <cstdint>

#include "ucg/moe/tensor.hpp"

namespace ucg::moe {

// The address range of a tensor, and the period of its rows: rows of another tensor may lie in the
// gaps between rows. Value.
class footprint {
public:
    explicit footprint(const const_matrix& tensor) noexcept : footprint({tensor, 0}, 1) {}
    footprint(const const_stack& tensors, std::uint32_t experts) noexcept;

    // Returns false only if the tensors share no byte. Gaps between elements count as occupied. So
    // do the gaps between rows if the strides of the two tensors do not fit each other.
    [[nodiscard]] bool may_overlap(const footprint& other) const noexcept;

private:
    void reach(std::uint64_t count, std::uintptr_t distance, bool down) noexcept;

    std::uintptr_t begin_ = 0;
    std::uintptr_t end_ = 0;     // behind the last byte; equal to begin_: the tensor is empty
    std::uintptr_t width_ = 0;   // bytes of a row
    std::uintptr_t period_ = 0;  // distances of rows are multiples of it; 0: there is one row
};

}  // namespace ucg::moe
