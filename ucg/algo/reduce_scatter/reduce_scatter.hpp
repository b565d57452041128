// Algorithms of reduce_scatter and reduce_scatter_block. In the time formulas, p is the number of
// ranks, N the bytes of each result, a the latency, b the time of a byte, c the time to reduce a
// byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::reduce_scatter {

// Recursive halving at doubling distances; then each rank sends the piece that it holds to the rank
// that it belongs to. Time: (log2 p + 1) a + p N (b + c). Reduces in the order of ranks.
UCG_ALGORITHM(recursive_halving);

// Around a ring in segments. Time: (p - 1) (a + N (b + c)). The reduction of block r begins with
// rank r + 1.
UCG_ALGORITHM(ring);

// Each rank sends each other rank its block, one after the other. Time: (p - 1) (a + N b + N c),
// but no message waits for the reduction of another one. Block r is reduced in the order r, r - 1,
// r - 2, …
UCG_ALGORITHM(pairwise);

inline constexpr auto by_place = condition::commutative | condition::order_by_place;
inline constexpr schedule::algorithm rows[] = {
    row<recursive_halving>(collective::reduce_scatter, "recursive_halving"),
    row<ring>(collective::reduce_scatter, "ring", by_place),
    row<pairwise>(collective::reduce_scatter, "pairwise", by_place),
    engine_row(collective::reduce_scatter),
};
inline constexpr schedule::algorithm rows_block[] = {
    row<recursive_halving>(collective::reduce_scatter_block, "recursive_halving"),
    row<ring>(collective::reduce_scatter_block, "ring", by_place),
    row<pairwise>(collective::reduce_scatter_block, "pairwise", by_place),
    engine_row(collective::reduce_scatter_block),
};

}  // namespace ucg::algo::reduce_scatter
