// Algorithms of allgather and allgatherv. p ranks, N bytes each; a: latency, b: time of a byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::allgather {

// Each round doubles the blocks that a rank has, from ranks ever further away; any number of ranks.
// log2 p a + (p - 1) N b, and all of it copied once.
UCG_ALGORITHM(bruck);

// Pairs exchange what they have, then pairs of pairs. log2 p a + (p - 1) N b.
UCG_ALGORITHM(recursive_doubling);

// Blocks go around. (p - 1) (a + N b), between neighbours only.
UCG_ALGORITHM(ring);

// The node's first rank gathers, does Bruck's algorithm with those of other nodes, and gives the
// node all at once. log2 n a + (p - m) N b for m ranks on each of n nodes.
UCG_ALGORITHM_ON_NODES(hierarchical);

// The nodes' blocks go around a ring of their first ranks, each of which gives its node one while
// the next one travels. (n - 1) (a + m N b).
UCG_ALGORITHM_ON_NODES(hierarchical_ring);

inline constexpr schedule::algorithm rows[] = {
    row<bruck>(collective::allgather, "bruck"),
    row<recursive_doubling>(collective::allgather, "recursive_doubling", condition::power_of_two),
    row<ring>(collective::allgather, "ring"),
    row_on_nodes<hierarchical>(collective::allgather, "hierarchical"),
    row_on_nodes<hierarchical_ring>(collective::allgather, "hierarchical_ring"),
};
inline constexpr schedule::algorithm rows_v[] = {
    row<bruck>(collective::allgatherv, "bruck"),
    row<ring>(collective::allgatherv, "ring"),
};

}  // namespace ucg::algo::allgather
