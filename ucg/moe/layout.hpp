// Where a rank's tokens go, by its own choices alone.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/moe/choices.hpp"

namespace ucg::moe {

// A value; nothing is asked of other ranks.
struct layout {
    std::vector<std::int32_t> per_rank;    // [ranks] tokens, each counted once for a rank
    std::vector<std::int32_t> per_node;    // [nodes] once for a node
    std::vector<std::int32_t> per_expert;  // [experts] every choice
    std::vector<std::uint8_t> in_rank;     // [tokens, ranks] 1 where the token goes to the rank
};

// `with_ranks`: whether in_rank is wanted, the only long one. std::bad_alloc.
[[nodiscard]] layout layout_of(const team& of, const choices& chosen, bool with_ranks = true);

}  // namespace ucg::moe
