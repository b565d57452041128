// Algorithms of allreduce. In the time formulas, p is the number of ranks, N the bytes, a the
// latency, b the time of a byte, c the time to reduce a byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::allreduce {

// Neighbours exchange and reduce all data, then pairs of neighbours, and so on.
// Time: log2 p (a + N (b + c)). Reduces in the order of ranks.
UCG_ALGORITHM(recursive_doubling);

// Reduce-scatter by recursive halving, allgather by recursive doubling (Rabenseifner). Time:
// 2 log2 p a + N (p - 1) / p (2 b + c). Reduces in the order of ranks, with the same bits as
// recursive doubling.
UCG_ALGORITHM(rabenseifner);

// Reduce-scatter and allgather around a ring in segments. A segment is reduced while the next one
// is in flight. Time: 2 (p - 1) a + N (p - 1) / p (2 b + c). The reduction of the block of rank i
// begins with rank i + 1.
UCG_ALGORITHM(ring);

// Each half of the data goes up and down its own binary tree in segments. An inner rank of one tree
// is a leaf of the other (Sanders, Speck, Träff). Time: about that of 4 log2 p segments to fill the
// pipeline, then 2 N b.
UCG_ALGORITHM(double_tree);

// In segments: a reduce-scatter in each node's memory among some of its ranks, the leaders; an
// allreduce of each share among the leaders with the same index on all nodes; an allgather in each
// node's memory. Up to `lanes` segments are in flight between nodes while others are processed
// inside nodes. Between nodes it uses recursive doubling, and above a quarter of a segment
// Rabenseifner's algorithm. Reduces in the order of nodes, and inside a node in the order of ranks.
UCG_ALGORITHM_ON_NODES(hierarchical);

// The same with a ring between nodes, and longer segments.
UCG_ALGORITHM_ON_NODES(hierarchical_ring);

inline constexpr schedule::algorithm rows[] = {
    row<recursive_doubling>(collective::allreduce, "recursive_doubling"),
    row<rabenseifner>(collective::allreduce, "rabenseifner"),
    row<ring>(collective::allreduce, "ring", condition::commutative | condition::order_by_place),
    row<double_tree>(collective::allreduce, "double_tree",
                     condition::commutative | condition::order_by_place),
    row_on_nodes<hierarchical>(collective::allreduce, "hierarchical"),
    row_on_nodes<hierarchical_ring>(collective::allreduce, "hierarchical_ring",
                                    condition::commutative | condition::order_by_place),
    engine_row(collective::allreduce),
};

}  // namespace ucg::algo::allreduce
