// Algorithms of reduce. p ranks, N bytes; a: latency, b: time of a byte, c: of a reduced byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::reduce {

// A binomial tree that ends at the root. log2 p (a + N (b + c)). In the order of ranks that begins
// with the root: so the root decides about the bits.
UCG_ALGORITHM(binomial);

// A binomial tree that ends at rank 0, in the order of ranks, and a message to the root.
// log2 p (a + N (b + c)) + a + N b.
UCG_ALGORITHM(ordered_binomial);

// Reduce-scatter by recursive halving, gather by the way back (Rabenseifner).
// 2 log2 p a + N (p - 1) / p (2 b + c). In the order of ranks.
UCG_ALGORITHM(rabenseifner);

// In segments: reduced in each node's memory, at the root or the node's first rank; from there by
// the ordered binomial tree, or above a quarter of a segment by Rabenseifner's algorithm. In the
// order of nodes, and inside a node in that of ranks.
UCG_ALGORITHM_ON_NODES(hierarchical);

inline constexpr schedule::algorithm rows[] = {
    row<binomial>(collective::reduce, "binomial",
                  condition::commutative | condition::order_by_place),
    row<ordered_binomial>(collective::reduce, "ordered_binomial", condition::own_order),
    row<rabenseifner>(collective::reduce, "rabenseifner"),
    row_on_nodes<hierarchical>(collective::reduce, "hierarchical"),
};

}  // namespace ucg::algo::reduce
