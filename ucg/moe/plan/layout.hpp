// Token counts per rank, node and expert, computed from the choices of this rank alone.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/moe/plan/choices.hpp"

namespace ucg::moe {

// A value. Computing it needs no communication.
struct layout {
    std::vector<std::int32_t> per_rank;    // [ranks] tokens; a token counts once for each rank
    std::vector<std::int32_t> per_node;    // [nodes] tokens; a token counts once for each node
    std::vector<std::int32_t> per_expert;  // [experts] choices
    std::vector<std::uint8_t> in_rank;     // [tokens, ranks] 1 where the token goes to the rank
};

// Fills in_rank, the only long matrix, only if `with_ranks` is true. Throws std::bad_alloc.
[[nodiscard]] layout layout_of(const team& group, const choices& chosen, bool with_ranks = true);

}  // namespace ucg::moe
