// Algorithms of scatter and scatterv. p ranks, N bytes each; a: latency, b: time of a byte, o:
// processor time of a message.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::scatter {

// The root sends each half of what is left to somebody who goes on with it. log2 p a + (p - 1) N b.
UCG_ALGORITHM(binomial);

// The root sends to all, several at a time. a + (p - 1) (o + N b).
UCG_ALGORITHM(linear);

inline constexpr schedule::algorithm rows[] = {
    row<binomial>(collective::scatter, "binomial"),
    row<linear>(collective::scatter, "linear"),
};
inline constexpr schedule::algorithm rows_v[] = {
    row<linear>(collective::scatterv, "linear"),
};

}  // namespace ucg::algo::scatter
