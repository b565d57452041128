// Algorithms of bcast. p ranks, N bytes; a: latency, b: time of a byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::bcast {

// Whoever has it passes it on, to half of those left each time. log2 p (a + N b).
UCG_ALGORITHM(binomial);

// Pieces are scattered by a binomial tree and collected around a ring (van de Geijn).
// (log2 p + p - 1) a + 2 N (p - 1) / p b.
UCG_ALGORITHM(scatter_allgather);

// In segments along a chain of all ranks. (p - 2) (a + S b) to fill, then N b.
UCG_ALGORITHM(chain);

// In segments down a binary tree. 2 log2 p segments to fill, then 2 N b.
UCG_ALGORITHM(binary_tree);

// In segments to one rank of each node, the root or the first, by one of those; from there in the
// node's memory, while the next segments travel. As above, with the number of nodes, and a node's
// broadcast of one segment.
UCG_ALGORITHM_ON_NODES(hierarchical);  // binomial
UCG_ALGORITHM_ON_NODES(hierarchical_tree);
UCG_ALGORITHM_ON_NODES(hierarchical_chain);

inline constexpr schedule::algorithm rows[] = {
    row<binomial>(collective::bcast, "binomial"),
    row<scatter_allgather>(collective::bcast, "scatter_allgather"),
    row<chain>(collective::bcast, "chain"),
    row<binary_tree>(collective::bcast, "binary_tree"),
    row_on_nodes<hierarchical>(collective::bcast, "hierarchical"),
    row_on_nodes<hierarchical_tree>(collective::bcast, "hierarchical_tree"),
    row_on_nodes<hierarchical_chain>(collective::bcast, "hierarchical_chain"),
};

}  // namespace ucg::algo::bcast
