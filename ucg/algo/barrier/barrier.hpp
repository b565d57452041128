// Algorithms of barrier.
#pragma once

#include "ucg/algo/common/row.hpp"

namespace ucg::algo::barrier {

// In round k each rank tells the one 2^k behind it, and hears from the one 2^k before it.
UCG_ALGORITHM(dissemination);

inline constexpr schedule::algorithm rows[] = {
    row<dissemination>(collective::barrier, "dissemination"),
};

}  // namespace ucg::algo::barrier
