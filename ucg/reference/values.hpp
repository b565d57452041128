// Elements of collectives: the input of each rank, and the expected result.
#pragma once

#include <ucg/api/ucg.h>

#include <cstddef>
#include <cstdint>

#include "ucg/reduce/types.hpp"
#include "ucg/reference/layout.hpp"

namespace ucg::reference {

// An element as numbers. `second` is the imaginary part of a complex element, or the location of
// a MIN_AT or MAX_AT element.
struct number {
    double value = 0;
    double second = 0;
    bool operator==(const number&) const = default;
};

// Convert an element to and from its representation in memory.
void store(ucg_type_t type, void* to, const number& value) noexcept;
[[nodiscard]] number load(ucg_type_t type, const void* from) noexcept;

// Hashes two numbers into one.
[[nodiscard]] std::uint64_t mix(std::uint64_t one, std::uint64_t other) noexcept;

// The numbers of one reduction. They are small, so that the type represents every sum and product
// of them exactly, even in 8 bits: the result does not depend on the order. (Averages may be
// rounded.) Value type.
class numbers {
public:
    numbers(ucg_type_t type, ucg_op_t op, rank_t ranks) noexcept;

    // Returns the input element `index` of this rank in round `round`.
    [[nodiscard]] number given(std::uint64_t index, std::uint64_t round,
                               rank_t rank) const noexcept;
    // Returns the reduction of element `index` over ranks 0 to `rank_count` - 1, at least one.
    [[nodiscard]] number reduced(std::uint64_t index, std::uint64_t round,
                                 rank_t rank_count) const noexcept;
    // Returns whether `got` is a valid result when the exact one is `correct`.
    [[nodiscard]] bool matches(const number& got, const number& correct) const noexcept;

private:
    // Properties of a type. All whole numbers of `bits` bits are exact.
    struct precision {
        reduce::family kind = reduce::family::integer;
        bool has_sign = true;
        int bits = 0;
        double step = 0;   // distance of adjacent values near 1
        double least = 0;  // smallest value above 0 of narrow types
    };
    static precision precision_of(ucg_type_t type) noexcept;

    [[nodiscard]] std::int64_t part(std::uint64_t noise, rank_t rank) const noexcept;
    [[nodiscard]] number combine(const number& one, const number& other) const noexcept;

    ucg_op_t op_;
    rank_t ranks_;
    precision precision_;
};

// A user's operator on elements of 64-bit words. Each word is a map x -> a x + b over 32 bits; the
// operator composes maps, so it is associative and not commutative. If `commutative`, it adds
// words.
struct word_operator {
    std::size_t words = 1;  // of an element
    bool commutative = false;

    void combine(const void* in, void* inout, std::uint64_t count) const noexcept;
    // A function for ucg_user_op_t, whose argument is a word_operator.
    static void function(const void* in, void* inout, std::uint64_t count, void* arg) noexcept;
};

}  // namespace ucg::reference
