// Algorithms of gather and gatherv. p ranks, N bytes each; a: latency, b: time of a byte, o:
// processor time of a message.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::gather {

// Subtrees are collected on the way to the root. log2 p a + (p - 1) N b.
UCG_ALGORITHM(binomial);

// The root receives from all, several at a time. a + (p - 1) (o + N b).
UCG_ALGORITHM(linear);

inline constexpr schedule::algorithm rows[] = {
    row<binomial>(collective::gather, "binomial"),
    row<linear>(collective::gather, "linear"),
};
inline constexpr schedule::algorithm rows_v[] = {
    row<linear>(collective::gatherv, "linear"),
};

}  // namespace ucg::algo::gather
