// The segment lengths of node collectives, for the engine and for the prediction of its time.
#pragma once

#include <cstddef>

#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

// A vector is cut into segments, so that one segment is copied while other ranks read the segment
// before. Segments are longer, up to the length of the contiguous slots, for long vectors (as a
// rank puts them into its slots) and for more than a few ranks, which may share cores. Longer
// segments mean fewer synchronizations and longer sequential accesses.
struct node_segments {
    std::size_t segment = 32 * 1024;  // bytes, at most
    std::size_t long_segment = 128 * 1024;
    std::size_t long_bytes = 1 << 20;
    rank_t few_ranks = 2;

    [[nodiscard]] bool are_long(double bytes, rank_t ranks) const noexcept {
        return bytes >= static_cast<double>(long_bytes) || ranks > few_ranks;
    }
};

}  // namespace ucg::schedule
