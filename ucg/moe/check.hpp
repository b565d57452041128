// Looks at what a caller gives before anything is sent.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "ucg/moe/occupied.hpp"
#include "ucg/moe/record.hpp"
#include "ucs/type/status.h"

namespace ucg::moe {

// A tensor of a call, and what the call does with it.
struct used {
    const char* which;
    occupied where;
    bool is_written;
};
[[nodiscard]] inline used reads(const char* which, const const_matrix& what) noexcept {
    return {which, occupied(what), false};
}
[[nodiscard]] inline used writes(const char* which, const const_matrix& what) noexcept {
    return {which, occupied(what), true};
}

// Keeps the first thing that is wrong, which it logs. Lies on the stack.
class checking {
public:
    explicit checking(const char* operation) noexcept : operation_(operation) {}

    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }

    // Of a matrix that has to be there: elements as asked, at least so many rows, memory where
    // there are any, aligned for its elements.
    void shape(const char* which, const const_matrix& what, std::uint64_t least_rows,
               std::uint32_t elements) noexcept;
    // A matrix for each expert, all of them so.
    void stacked(const char* which, const const_stack& what, std::uint64_t least_rows,
                 std::uint32_t elements) noexcept;
    void of_type(const char* which, const const_matrix& what, const char* wanted,
                 std::initializer_list<reduce::element> among) noexcept;
    // So many elements in a row, or twice as many, ...
    void multiple(const char* which, const const_matrix& what, std::uint32_t of) noexcept;
    // Elements of a row one after the other.
    void dense_rows(const char* which, const const_matrix& what) noexcept;
    // And rows as well.
    void dense(const char* which, const const_matrix& what) noexcept;
    // The same elements and types as `like`; nothing where that has none.
    void alike(const char* which, const const_matrix& what, const const_matrix& like,
               std::uint64_t least_rows) noexcept;
    // Values, and weights and scales where they are there: `rows` rows each.
    void input(const const_parts& what, std::uint64_t rows, std::uint32_t k) noexcept;
    void output_weights(const const_matrix& what, bool wanted, std::uint64_t least_rows,
                        std::uint32_t elements) noexcept;
    // What is written lies over nothing else that the call uses.
    void apart(std::initializer_list<used> all) noexcept;

private:
    void refuse(ucs_status_t why) noexcept;
    static constexpr std::uint64_t most_row_bytes = 1U << 30U;

    const char* operation_;
    ucs_status_t status_ = UCS_OK;
};

}  // namespace ucg::moe
