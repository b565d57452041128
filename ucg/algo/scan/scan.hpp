// Algorithms of scan and exscan. In the time formulas, p is the number of ranks, N the bytes, a the
// latency, b the time of a byte, c the time to reduce a byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::scan {

// In each round a rank adds the partial result of a rank before it, at doubling distances (Hillis,
// Steele). Time: log2 p (a + N (b + c)). Reduces in the order of ranks.
UCG_ALGORITHM(doubling);

// The same, and a second result without the rank's own input. Time: log2 p (a + N (b + 2 c)).
UCG_ALGORITHM(exclusive_doubling);

inline constexpr schedule::algorithm rows[] = {
    row<doubling>(collective::scan, "recursive_doubling"),
    engine_row(collective::scan),
};
inline constexpr schedule::algorithm rows_exclusive[] = {
    row<exclusive_doubling>(collective::exscan, "recursive_doubling"),
    engine_row(collective::exscan),
};

}  // namespace ucg::algo::scan
