// Group-wide token counts: how many tokens each rank sends to each other rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/moe/plan/routes.hpp"

namespace ucg::moe {

// The size is quadratic in the number of ranks. So counts are exchanged only if the program asks
// for them (settings::all_counts). A value that is immutable once made.
struct group_counts {
    std::vector<std::uint32_t> counts;  // [source, target] tokens; empty: not asked for

    // `all` are checked routes, one for each living rank. UCS_ERR_IO_ERROR: a source sends this
    // rank another number of tokens than it says, or sends tokens to a masked rank.
    // UCS_ERR_EXCEEDS_LIMIT: a rank receives more rows than can be numbered. Throws std::bad_alloc.
    [[nodiscard]] ucs_status_t make(const team& group, std::span<const routes> all);
};

}  // namespace ucg::moe
