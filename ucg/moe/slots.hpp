// Where tokens lie after a low-latency dispatch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ucg/moe/choices.hpp"
#include "ucg/moe/fp8.hpp"
#include "ucg/moe/lists.hpp"

namespace ucg::moe {

// What a low-latency group agrees on; the same on every rank.
struct slot_settings {
    std::uint32_t most_tokens = 128;  // of a rank; it may have less
    bool cast = false;                // values to fp8_e4m3 before they are sent
    scaling how = scaling::exact;
};

// A matrix for each expert of a rank, at equal distances.
template<class Byte>
struct basic_stack {
    basic_matrix<Byte> first;           // of expert 0
    std::ptrdiff_t expert_stride = 0;  // bytes

    [[nodiscard]] basic_matrix<Byte> of(std::uint32_t expert) const noexcept {
        basic_matrix<Byte> made = first;
        made.data += static_cast<std::ptrdiff_t>(expert) * expert_stride;
        return made;
    }
};
using stack = basic_stack<std::byte>;
using const_stack = basic_stack<const std::byte>;

// The handle: what combine needs of a dispatch. An expert's rows begin with those of rank 0, in the
// order of its tokens, and have no gaps. Immutable once made; any thread.
struct slots {
    struct range {
        std::uint32_t begin = 0;
        std::uint32_t count = 0;
    };
    std::shared_ptr<const team> of;
    slot_settings by;
    choices chosen;
    lists sent;                              // tokens to each expert of each rank, in one channel
    std::vector<std::uint32_t> place;        // [tokens, k] of a choice among all rows to its rank
    std::vector<range> ranges;               // [local experts, ranks]
    std::vector<std::uint32_t> counts;       // [local experts] rows

    [[nodiscard]] range range_of(std::uint32_t expert, rank_t source) const noexcept {
        return ranges[std::size_t{expert} * of->ranks() + source];
    }
    // Rows to or from a rank.
    [[nodiscard]] std::uint32_t rows_to(rank_t rank) const noexcept;
    [[nodiscard]] std::uint32_t rows_from(rank_t rank) const noexcept;
    // That an expert must have room for.
    [[nodiscard]] std::uint64_t capacity() const noexcept {
        return std::uint64_t{by.most_tokens} * of->ranks();
    }

    // What this rank sends. UCS_ERR_INVALID_PARAM: more tokens than most_tokens, or more for one
    // expert. std::bad_alloc.
    [[nodiscard]] ucs_status_t plan_sends();
};

}  // namespace ucg::moe
