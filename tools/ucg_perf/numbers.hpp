// Elements of reductions: the input of each rank, and the expected result.
#pragma once

#include <ucg/api/ucg.h>

#include <cstddef>
#include <cstdint>

namespace tools::ucg_perf {

// An element as numbers. `second` is the imaginary part of a complex element, or the index of a
// MIN_AT or MAX_AT element.
struct number {
    double value = 0;
    double second = 0;
};

// Hashes two numbers into one.
[[nodiscard]] std::uint64_t mix(std::uint64_t one, std::uint64_t other) noexcept;

// The numbers of one operation. They are small, so that the type represents every sum and product
// of them exactly, even in 8 bits: the result does not depend on the order. (Averages may be
// rounded.) Value type.
class numbers {
public:
    numbers(ucg_type_t type, ucg_op_t op, std::uint32_t ranks) noexcept;

    // Returns the input element `index` of this rank in round `round`.
    [[nodiscard]] number given(std::uint64_t index, std::uint64_t round,
                               std::uint32_t rank) const noexcept;
    // Returns the reduction of element `index` over ranks 0 to `upto` - 1. `upto` is at least 1.
    [[nodiscard]] number reduced(std::uint64_t index, std::uint64_t round,
                                 std::uint32_t rank_count) const noexcept;
    // Returns whether `got` is a valid result when the exact one is `right`.
    [[nodiscard]] bool matches(const number& got, const number& correct) const noexcept;

    // Convert an element from and to its representation in memory.
    void store(void* to, const number& value) const noexcept;
    [[nodiscard]] number load(const void* from) const noexcept;
    [[nodiscard]] std::size_t element() const noexcept { return element_; }

private:
    [[nodiscard]] double part(std::uint64_t noise, std::uint32_t rank) const noexcept;
    [[nodiscard]] double combine(double one, double other) const noexcept;
    [[nodiscard]] number combine(const number& one, const number& other) const noexcept;

    ucg_type_t type_;
    ucg_op_t op_;
    std::uint32_t ranks_;
    std::size_t element_;
};

}  // namespace tools::ucg_perf
