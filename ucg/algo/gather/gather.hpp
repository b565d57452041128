// Algorithms of gather and gatherv. In the time formulas, p is the number of ranks, N the bytes of
// each, a the latency, b the time of a byte, o the processor time of a message.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::gather {

// A binomial tree: each rank collects the blocks of its subtree. Time: log2 p a + (p - 1) N b.
UCG_ALGORITHM(binomial);

// The root receives from all ranks, several at a time. Time: a + (p - 1) (o + N b).
UCG_ALGORITHM_WITHOUT_SCRATCH(linear);

inline constexpr schedule::algorithm rows[] = {
    row<binomial>(collective::gather, "binomial"),
    row<linear>(collective::gather, "linear"),
    engine_row(collective::gather),
};
inline constexpr schedule::algorithm rows_v[] = {
    row<linear>(collective::gatherv, "linear"),
    engine_row(collective::gatherv),
};

}  // namespace ucg::algo::gather
