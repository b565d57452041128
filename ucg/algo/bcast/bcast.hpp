// Algorithms of bcast. In the time formulas, p is the number of ranks, N the bytes, a the latency,
// b the time of a byte, S the bytes of a segment.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::bcast {

// A binomial tree: in each round every rank that has the data sends it to one more rank.
// Time: log2 p (a + N b).
UCG_ALGORITHM_WITHOUT_SCRATCH(binomial);

// A binomial tree scatters pieces, and an allgather around a ring collects them (van de Geijn).
// Time: (log2 p + p - 1) a + 2 N (p - 1) / p b.
UCG_ALGORITHM(scatter_allgather);

// In segments along a chain of all ranks. Time: (p - 2) (a + S b) to fill the pipeline, then N b.
UCG_ALGORITHM_WITHOUT_SCRATCH(chain);

// In segments down a binary tree. Time: that of 2 log2 p segments to fill the pipeline, then 2 N b.
UCG_ALGORITHM_WITHOUT_SCRATCH(binary_tree);

// In segments to one leader of each node (the root or the node's first rank) by one of the
// algorithms above, and from the leader in the node's memory while the next segments are in flight.
// Time: that of the algorithm among as many ranks as there are nodes, and a node's broadcast of one
// segment.
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
    engine_row(collective::bcast),
};

}  // namespace ucg::algo::bcast
