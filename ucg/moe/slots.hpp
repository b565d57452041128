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

// What a rank sends, which its choices say alone. Immutable once made; any thread.
struct slot_plan {
    std::shared_ptr<const team> of;
    slot_settings by;
    choices chosen;
    lists sent;                        // tokens to each expert of each rank, in one channel
    std::vector<std::uint32_t> place;  // [tokens, k] of a choice among all rows to its rank

    // Rows to a rank.
    [[nodiscard]] std::uint32_t rows_to(rank_t rank) const noexcept;
    // That an expert must have room for.
    [[nodiscard]] std::uint64_t capacity() const noexcept {
        return std::uint64_t{by.most_tokens} * of->ranks();
    }

    // `sent` and `place`, from the others. UCS_ERR_INVALID_PARAM: more tokens than most_tokens, or
    // one that chose an expert twice. std::bad_alloc.
    [[nodiscard]] ucs_status_t make();
};

// The handle: what combine needs of a dispatch. An expert's rows begin with those of rank 0, in the
// order of its tokens, and have no gaps. Immutable once made; any thread.
struct slots {
    struct range {
        std::uint32_t begin = 0;
        std::uint32_t count = 0;
    };
    std::shared_ptr<const slot_plan> plan;
    std::vector<range> ranges;          // [local experts, ranks]
    std::vector<std::uint32_t> counts;  // [local experts] rows

    // std::bad_alloc.
    explicit slots(std::shared_ptr<const slot_plan> by);

    [[nodiscard]] range range_of(std::uint32_t expert, rank_t source) const noexcept {
        return ranges[std::size_t{expert} * plan->of->ranks() + source];
    }
    [[nodiscard]] std::uint32_t rows_from(rank_t rank) const noexcept;
};

}  // namespace ucg::moe
