// Algorithms of allgather and allgatherv. In the time formulas, p is the number of ranks, N the
// bytes of each, a the latency, b the time of a byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::allgather {

// Each round doubles the number of blocks that a rank has, at doubling distances. Works with any
// number of ranks. Time: log2 p a + (p - 1) N b, and one copy of all data.
UCG_ALGORITHM(bruck);

// Pairs of ranks exchange their blocks, then pairs of pairs. Time: log2 p a + (p - 1) N b.
UCG_ALGORITHM_WITHOUT_SCRATCH(recursive_doubling);

// Blocks go around a ring, between neighbours only. Time: (p - 1) (a + N b).
UCG_ALGORITHM_WITHOUT_SCRATCH(ring);

// The first rank of each node gathers, runs Bruck's algorithm with those of other nodes, and
// broadcasts the result on its node. Time: log2 n a + (p - m) N b for m ranks on each of n nodes.
UCG_ALGORITHM_ON_NODES(hierarchical);

// The nodes' blocks go around a ring of their first ranks. Each of these broadcasts one block on
// its node while the next block is in flight. Time: (n - 1) (a + m N b).
UCG_ALGORITHM_ON_NODES(hierarchical_ring);

inline constexpr schedule::algorithm rows[] = {
    row<bruck>(collective::allgather, "bruck"),
    row<recursive_doubling>(collective::allgather, "recursive_doubling", condition::power_of_two),
    row<ring>(collective::allgather, "ring"),
    row_on_nodes<hierarchical>(collective::allgather, "hierarchical"),
    row_on_nodes<hierarchical_ring>(collective::allgather, "hierarchical_ring"),
    engine_row(collective::allgather),
};
inline constexpr schedule::algorithm rows_v[] = {
    row<bruck>(collective::allgatherv, "bruck"),
    row<ring>(collective::allgatherv, "ring"),
    engine_row(collective::allgatherv),
};

}  // namespace ucg::algo::allgather
