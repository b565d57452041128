// Algorithms of allreduce. p ranks, N bytes; a: latency, b: time of a byte, c: of a reduced byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::allreduce {

// Neighbours exchange and reduce all of it, then pairs of neighbours, and so on.
// log2 p (a + N (b + c)). In the order of ranks.
UCG_ALGORITHM(recursive_doubling);

// Reduce-scatter by recursive halving, allgather by recursive doubling (Rabenseifner).
// 2 log2 p a + N (p - 1) / p (2 b + c). In the order of ranks: the bits of recursive doubling.
UCG_ALGORITHM(rabenseifner);

// Reduce-scatter and allgather around a ring, in segments: one is reduced while the next one
// travels. 2 (p - 1) a + N (p - 1) / p (2 b + c). The block of rank i is reduced from rank i + 1
// on.
UCG_ALGORITHM(ring);

// Each half of the data goes up and down its own binary tree, in segments; who is inside one tree
// is a leaf of the other (Sanders, Speck, Träff). About 4 log2 p times a segment to fill, then 2 N
// b.
UCG_ALGORITHM(double_tree);

// In segments: reduce-scatter in each node's memory among some of its ranks, the leaders; each of
// them does an allreduce of its share with those of its place on other nodes; allgather in each
// node's memory. Up to four segments are between the nodes while others are inside. Recursive
// doubling between nodes, or above a quarter of a segment Rabenseifner's algorithm: in the order of
// nodes, and inside a node in that of ranks.
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
};

}  // namespace ucg::algo::allreduce
