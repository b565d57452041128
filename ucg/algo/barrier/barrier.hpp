// Algorithms of barrier.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::barrier {

// In round k each rank notifies rank + 2^k and waits for the message of rank - 2^k.
UCG_ALGORITHM_WITHOUT_SCRATCH(dissemination);

// A barrier on each node, a dissemination barrier among the first ranks of all nodes, and a second
// barrier on each node.
UCG_ALGORITHM_ON_NODES(hierarchical);

inline constexpr schedule::algorithm rows[] = {
    row<dissemination>(collective::barrier, "dissemination"),
    row_on_nodes<hierarchical>(collective::barrier, "hierarchical"),
    engine_row(collective::barrier),
};

}  // namespace ucg::algo::barrier
