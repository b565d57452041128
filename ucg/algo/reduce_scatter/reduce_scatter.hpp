// Algorithms of reduce_scatter and reduce_scatter_block. p ranks, N bytes of result for each; a:
// latency, b: time of a byte, c: of a reduced byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::reduce_scatter {

// Halves are exchanged with ranks at ever larger distances, and what a rank is left with goes to
// whom it belongs. (log2 p + 1) a + p N (b + c). In the order of ranks.
UCG_ALGORITHM(recursive_halving);

// Around a ring, in segments. (p - 1) (a + N (b + c)). Block r is reduced from rank r + 1 on.
UCG_ALGORITHM(ring);

// Each rank sends each other one its block, one after the other. (p - 1) (a + N b + N c), but no
// message waits for another one's reduction. Block r is reduced r, r - 1, r - 2, …
UCG_ALGORITHM(pairwise);

inline constexpr auto by_place = condition::commutative | condition::order_by_place;
inline constexpr schedule::algorithm rows[] = {
    row<recursive_halving>(collective::reduce_scatter, "recursive_halving"),
    row<ring>(collective::reduce_scatter, "ring", by_place),
    row<pairwise>(collective::reduce_scatter, "pairwise", by_place),
};
inline constexpr schedule::algorithm rows_block[] = {
    row<recursive_halving>(collective::reduce_scatter_block, "recursive_halving"),
    row<ring>(collective::reduce_scatter_block, "ring", by_place),
    row<pairwise>(collective::reduce_scatter_block, "pairwise", by_place),
};

}  // namespace ucg::algo::reduce_scatter
