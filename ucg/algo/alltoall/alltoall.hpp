// Algorithms of alltoall and alltoallv. p ranks, N bytes for each; a: latency, b: time of a byte,
// o: processor time of a message.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::alltoall {

// Blocks travel together, by the bits of the distance that they have to go. log2 p (a + p N / 2 b),
// and as much copied three times.
UCG_ALGORITHM(bruck);

// Each rank exchanges with all others one after the other, some at the same time.
// a + (p - 1) (o + N b).
UCG_ALGORITHM(pairwise);

inline constexpr schedule::algorithm rows[] = {
    row<bruck>(collective::alltoall, "bruck"),
    row<pairwise>(collective::alltoall, "pairwise"),
};
inline constexpr schedule::algorithm rows_v[] = {
    row<pairwise>(collective::alltoallv, "pairwise"),
};

}  // namespace ucg::algo::alltoall
