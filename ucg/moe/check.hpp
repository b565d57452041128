// Checks of the tensors that a caller passes to an MoE operation. They run before anything is sent.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "ucg/moe/record.hpp"
#include "ucg/moe/tensor.hpp"
#include "ucs/type/status.h"

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

// A tensor that a call reads or writes.
struct tensor_use {
    const char* name;
    footprint memory;
    bool is_written;
};
[[nodiscard]] inline tensor_use read_access(const char* name, const const_matrix& tensor) noexcept {
    return {name, footprint(tensor), false};
}
[[nodiscard]] inline tensor_use write_access(const char* name,
                                             const const_matrix& tensor) noexcept {
    return {name, footprint(tensor), true};
}

// Each check logs an error and keeps its status. After the first error, further checks do nothing.
// A local variable of the function that checks. `name` is the tensor's name for log lines.
class argument_checks {
public:
    explicit argument_checks(const char* operation) noexcept : operation_(operation) {}

    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }

    // Checks that a mandatory matrix has `elements` elements in each row and at least `least_rows`
    // rows. If `least_rows` is not 0, it must have memory that is aligned for its elements.
    void check_shape(const char* name, const const_matrix& tensor, std::uint64_t least_rows,
                     std::uint32_t elements) noexcept;
    // Makes the same check for a stack, which has one matrix for each expert.
    void check_stack(const char* name, const const_stack& tensor, std::uint64_t least_rows,
                     std::uint32_t elements) noexcept;
    // Checks that the element type is one of `allowed`. `wanted` describes these in the log line.
    void check_type(const char* name, const const_matrix& tensor, const char* wanted,
                    std::initializer_list<reduce::element> allowed) noexcept;
    // Checks that the number of elements of a row is a multiple of `divisor`.
    void check_multiple(const char* name, const const_matrix& tensor,
                        std::uint32_t divisor) noexcept;
    // Checks that there are no gaps between the elements of a row.
    void check_dense_rows(const char* name, const const_matrix& tensor) noexcept;
    // Checks that there are no gaps between elements or between rows.
    void check_dense(const char* name, const const_matrix& tensor) noexcept;
    // Checks that the matrix has rows like those of `like`: as many elements, of the same type. If
    // `like` is absent, the matrix must be absent, too.
    void check_same_form(const char* name, const const_matrix& tensor, const const_matrix& like,
                         std::uint64_t least_rows) noexcept;
    // Checks the input of a dispatch or combine. The values, and the weights and scales if they are
    // present, must have at least `rows` rows. Weights have `k` elements for each row.
    void check_input(const const_parts& tensors, std::uint64_t rows, std::uint32_t k) noexcept;
    // Checks the weights of the output. If `wanted`, they must have the type fp32 and this shape.
    // Otherwise they must be absent.
    void check_output_weights(const const_matrix& tensor, bool wanted, std::uint64_t least_rows,
                              std::uint32_t elements) noexcept;
    // Checks that no tensor that is written overlaps another tensor of the call.
    void check_overlap(std::initializer_list<tensor_use> all) noexcept;

private:
    void refuse(ucs_status_t status) noexcept;
    static constexpr std::uint64_t max_row_bytes = 1U << 30U;

    const char* operation_;
    ucs_status_t status_ = UCS_OK;
};

}  // namespace ucg::moe
