// How much goes from any rank to any other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/moe/routes.hpp"

namespace ucg::moe {

// Numbers for each pair of ranks, so only where a program asks for them (settings::all_counts).
// Value, immutable once made.
struct census {
    std::vector<std::uint32_t> counts;  // [ranks, ranks] tokens from a source; empty: not asked for

    // Of routes that were checked, one of each living rank. UCS_ERR_IO_ERROR: a source sends this
    // rank more or less than it says, or something to a rank that is masked.
    // UCS_ERR_EXCEEDS_LIMIT: a rank gets more than can be numbered. std::bad_alloc.
    [[nodiscard]] ucs_status_t make(const team& of, std::span<const routes> all);
};

}  // namespace ucg::moe
