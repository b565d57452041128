// Algorithms of alltoall and alltoallv. In the time formulas, p is the number of ranks, N the bytes
// for each, a the latency, b the time of a byte, o the processor time of a message.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::alltoall {

// Each round handles one bit of the distance that blocks must move, and sends all blocks with this
// bit in one message. Time: log2 p (a + p N / 2 b), and three copies of the same amount.
UCG_ALGORITHM(bruck);

// Each rank exchanges with all other ranks, with several exchanges in flight.
// Time: a + (p - 1) (o + N b).
UCG_ALGORITHM(pairwise);

inline constexpr schedule::algorithm rows[] = {
    row<bruck>(collective::alltoall, "bruck"),
    row<pairwise>(collective::alltoall, "pairwise"),
    engine_row(collective::alltoall),
};
inline constexpr schedule::algorithm rows_v[] = {
    row<pairwise>(collective::alltoallv, "pairwise"),
    engine_row(collective::alltoallv),
};

}  // namespace ucg::algo::alltoall
