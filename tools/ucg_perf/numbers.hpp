// Elements that are reduced: which ones the ranks put in, and what must come out.
#pragma once

#include <ucg/api/ucg.h>

#include <cstddef>
#include <cstdint>

namespace tools::ucg_perf {

// An element as numbers: its value and, of a complex one the imaginary part, of one with a place
// the place.
struct number {
    double value = 0;
    double second = 0;
};

// Spreads the bits of two numbers over one.
[[nodiscard]] std::uint64_t mixed(std::uint64_t one, std::uint64_t other) noexcept;

// The numbers of one operation. They are so small that every sum and product of some of them can be
// represented in the type, in 8 bits as well: so whatever the order, there is one result. (Averages
// may be rounded.) Value type.
class numbers {
public:
    numbers(ucg_type_t type, ucg_op_t op, std::uint32_t ranks) noexcept;

    // What this rank has as element `index` in round `round`.
    [[nodiscard]] number given(std::uint64_t index, std::uint64_t round,
                               std::uint32_t rank) const noexcept;
    // Those of ranks 0 to `upto` - 1, reduced. `upto` is at least 1.
    [[nodiscard]] number reduced(std::uint64_t index, std::uint64_t round,
                                 std::uint32_t upto) const noexcept;
    // Whether `got` can be the result that should be `right`.
    [[nodiscard]] bool agrees(const number& got, const number& right) const noexcept;

    // From and to memory.
    void store(void* to, const number& what) const noexcept;
    [[nodiscard]] number load(const void* from) const noexcept;
    [[nodiscard]] std::size_t element() const noexcept { return element_; }

private:
    [[nodiscard]] double part(std::uint64_t noise, std::uint32_t rank) const noexcept;
    [[nodiscard]] double joined(double one, double other) const noexcept;
    [[nodiscard]] number joined(const number& one, const number& other) const noexcept;

    ucg_type_t type_;
    ucg_op_t op_;
    std::uint32_t ranks_;
    std::size_t element_;
};

}  // namespace tools::ucg_perf
