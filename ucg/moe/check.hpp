// Checks the tensors that a caller passes before anything is sent.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "ucg/moe/footprint.hpp"
#include "ucg/moe/record.hpp"
#include "ucs/type/status.h"

namespace ucg::moe {

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

// Logs the first error and keeps its status; later checks do nothing. Lies on the stack.
class argument_checks {
public:
    explicit argument_checks(const char* operation) noexcept : operation_(operation) {}

    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }

    // Checks a mandatory matrix: it has `elements` elements and at least `least_rows` rows. If
    // `least_rows` is not 0, it has memory that is aligned for its elements.
    void check_shape(const char* name, const const_matrix& tensor, std::uint64_t least_rows,
                     std::uint32_t elements) noexcept;
    // The same check for a stack with one matrix for each expert.
    void check_stack(const char* name, const const_stack& tensor, std::uint64_t least_rows,
                     std::uint32_t elements) noexcept;
    void check_type(const char* name, const const_matrix& tensor, const char* wanted,
                    std::initializer_list<reduce::element> allowed) noexcept;
    // The number of elements of a row is a multiple of `divisor`.
    void check_multiple(const char* name, const const_matrix& tensor,
                        std::uint32_t divisor) noexcept;
    // There are no gaps between the elements of a row.
    void check_dense_rows(const char* name, const const_matrix& tensor) noexcept;
    // There are no gaps between elements or between rows.
    void check_dense(const char* name, const const_matrix& tensor) noexcept;
    // The matrix has the same elements and type as `like`; it is absent if `like` is absent.
    void check_same_form(const char* name, const const_matrix& tensor, const const_matrix& like,
                         std::uint64_t least_rows) noexcept;
    // Values and, if they are present, weights and scales have `rows` rows each.
    void check_input(const const_parts& tensors, std::uint64_t rows, std::uint32_t k) noexcept;
    void check_output_weights(const const_matrix& tensor, bool wanted, std::uint64_t least_rows,
                              std::uint32_t elements) noexcept;
    // A tensor that is written overlaps no other tensor of the call.
    void check_overlap(std::initializer_list<tensor_use> all) noexcept;

private:
    void refuse(ucs_status_t status) noexcept;
    static constexpr std::uint64_t max_row_bytes = 1U << 30U;

    const char* operation_;
    ucs_status_t status_ = UCS_OK;
};

}  // namespace ucg::moe
