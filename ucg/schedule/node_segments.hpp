// How the ranks of a node cut what they give each other: for the engine, and for what predicts it.
#pragma once

#include <cstddef>

#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

// A vector is cut, so that one segment is copied while the others' processors see the one before.
// Of long vectors (of what a rank puts into its slots), and among more than a few ranks, which may
// have to share cores, segments are longer, as far as slots in a row go: fewer meetings, and longer
// streams of memory.
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
