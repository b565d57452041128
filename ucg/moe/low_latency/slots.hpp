// The result of a low-latency dispatch: in which row of which expert each token lies.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ucg/moe/numbers/fp8.hpp"
#include "ucg/moe/plan/choices.hpp"
#include "ucg/moe/plan/lists.hpp"

namespace ucg::moe {

// Settings of the low-latency exchange, the same on every rank.
struct slot_settings {
    std::uint32_t max_tokens = 128;  // maximum for one rank
    bool cast = false;               // cast cast values to fp8_e4m3 before they are sent
    scaling scale_format = scaling::exact;
};

// The tokens that a rank sends, computed from its own choices alone. Immutable once made; any
// thread.
struct slot_plan {
    std::shared_ptr<const team> group;
    slot_settings options;
    choices chosen;
    lists sent;  // tokens to each expert of each rank, in one channel
    std::vector<std::uint32_t>
        row_in_message;  // [tokens, k] row of a choice in the message to its rank

    // Number of rows that this rank sends to `rank`.
    [[nodiscard]] std::uint32_t rows_to(rank_t rank) const noexcept;
    // Number of rows that each expert's output must have.
    [[nodiscard]] std::uint64_t capacity() const noexcept {
        return std::uint64_t{options.max_tokens} * group->ranks();
    }

    // Computes `sent` and `row_in_message` from the other members. UCS_ERR_INVALID_PARAM: there are
    // more tokens than max_tokens, or a token chose an expert twice. Throws std::bad_alloc.
    [[nodiscard]] ucs_status_t make();
};

// The handle that combine needs of a dispatch. The rows of an expert are sorted by source rank and
// token, without gaps. Immutable once made; any thread.
struct slots {
    struct range {
        std::uint32_t begin = 0;
        std::uint32_t count = 0;
    };
    std::shared_ptr<const slot_plan> plan;
    std::vector<range> ranges;          // [local experts, ranks]
    std::vector<std::uint32_t> counts;  // [local experts] rows

    // Throws std::bad_alloc.
    explicit slots(std::shared_ptr<const slot_plan> for_plan);

    [[nodiscard]] range range_of(std::uint32_t expert, rank_t source) const noexcept {
        return ranges[std::size_t{expert} * plan->group->ranks() + source];
    }
    [[nodiscard]] std::uint32_t rows_from(rank_t rank) const noexcept;
};

}  // namespace ucg::moe
