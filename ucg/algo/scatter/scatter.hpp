// Algorithms of scatter and scatterv. In the time formulas, p is the number of ranks, N the bytes
// of each, a the latency, b the time of a byte, o the processor time of a message.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::scatter {

// A binomial tree: each rank sends half of its blocks on to a child, then half of the rest, and so
// on. Time: log2 p a + (p - 1) N b.
UCG_ALGORITHM(binomial);

// The root sends to all ranks, several at a time. Time: a + (p - 1) (o + N b).
UCG_ALGORITHM_WITHOUT_SCRATCH(linear);

inline constexpr schedule::algorithm rows[] = {
    row<binomial>(collective::scatter, "binomial"),
    row<linear>(collective::scatter, "linear"),
    engine_row(collective::scatter),
};
inline constexpr schedule::algorithm rows_v[] = {
    row<linear>(collective::scatterv, "linear"),
    engine_row(collective::scatterv),
};

}  // namespace ucg::algo::scatter
