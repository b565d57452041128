// Algorithms of barrier.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::barrier {

// In round k each rank tells the one 2^k behind it, and hears from the one 2^k before it.
UCG_ALGORITHM(dissemination);

// The ranks of a node meet, the first ones of all nodes disseminate, the ranks of a node meet again.
UCG_ALGORITHM_ON_NODES(hierarchical);

inline constexpr schedule::algorithm rows[] = {
    row<dissemination>(collective::barrier, "dissemination"),
    row_on_nodes<hierarchical>(collective::barrier, "hierarchical"),
};

}  // namespace ucg::algo::barrier
