// Algorithms of scan and exscan. p ranks, N bytes; a: latency, b: time of a byte, c: of a reduced
// byte.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::scan {

// Each round a rank adds what the one at twice the distance before it has (Hillis, Steele).
// log2 p (a + N (b + c)). In the order of ranks.
UCG_ALGORITHM(doubling);

// The same beside a second result without the rank's own part. log2 p (a + N (b + 2 c)).
UCG_ALGORITHM(exclusive_doubling);

inline constexpr schedule::algorithm rows[] = {
    row<doubling>(collective::scan, "recursive_doubling"),
};
inline constexpr schedule::algorithm rows_exclusive[] = {
    row<exclusive_doubling>(collective::exscan, "recursive_doubling"),
};

}  // namespace ucg::algo::scan
