// Algorithms of reduce. In the time formulas, p is the number of ranks, N the bytes, a the latency,
// b the time of a byte, c the time to reduce a byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::reduce {

// A binomial tree towards the root. Time: log2 p (a + N (b + c)). Reduces in the order of ranks
// that begins with the root, so the bits depend on the root.
UCG_ALGORITHM(binomial);

// A binomial tree towards rank 0, in the order of ranks, and a message to the root.
// Time: log2 p (a + N (b + c)) + a + N b.
UCG_ALGORITHM(ordered_binomial);

// Reduce-scatter by recursive halving, then a gather to the root (Rabenseifner).
// Time: 2 log2 p a + N (p - 1) / p (2 b + c). Reduces in the order of ranks.
UCG_ALGORITHM(rabenseifner);

// In segments: a reduce in each node's memory to its leader (the root or the node's first rank),
// then among the leaders the ordered binomial tree, or above a quarter of a segment Rabenseifner's
// algorithm. Reduces in the order of nodes, and inside a node in the order of ranks.
UCG_ALGORITHM_ON_NODES(hierarchical);

inline constexpr schedule::algorithm rows[] = {
    row<binomial>(collective::reduce, "binomial",
                  condition::commutative | condition::order_by_place),
    row<ordered_binomial>(collective::reduce, "ordered_binomial", condition::own_order),
    row<rabenseifner>(collective::reduce, "rabenseifner"),
    row_on_nodes<hierarchical>(collective::reduce, "hierarchical"),
    engine_row(collective::reduce),
};

}  // namespace ucg::algo::reduce
