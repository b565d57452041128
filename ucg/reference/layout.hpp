// The layout of a rank's buffers for a collective: input blocks, and the output blocks that it must
// have in the end.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ucg/schedule/collective.hpp"

namespace ucg::reference {

using schedule::rank_t;

// Consecutive elements in a buffer that come from one rank.
struct block {
    std::uint64_t offset = 0;  // first element in the buffer
    std::uint64_t count = 0;
    rank_t source = 0;        // rank that provides them; 0 in results of reductions
    rank_t target = 0;        // rank that they are for, in alltoall and scatter
    std::uint64_t first = 0;  // index of the first element at its source
};

// The arguments of a collective that are the same on all ranks.
struct problem {
    schedule::collective kind = schedule::collective::barrier;
    rank_t ranks = 1;
    std::uint64_t count = 0;  // elements; of one block if each rank has a block for each rank
    rank_t root = 0;
    bool in_place = false;
    // Returns the elements of the block from one rank to another, if blocks may differ in size.
    // Empty: all blocks have `count` elements. The size depends only on the sender for gatherv and
    // allgatherv, and only on the receiver for scatterv and reduce_scatter. In place, alltoallv
    // needs equal sizes in both directions.
    std::function<std::uint64_t(rank_t from, rank_t to)> size;
    // If not 0, blocks that may differ in size lie in random order, with random gaps between them.
    // reduce_scatter has no gaps.
    std::uint64_t gaps = 0;
};

// The arguments of one rank in elements, its input blocks, and the output that it must have in the
// end. Counts and offsets are empty if the rank's call does not have them.
struct layout {
    std::uint64_t count = 0;
    std::vector<std::uint64_t> source_counts, source_offsets;
    std::vector<std::uint64_t> target_counts, target_offsets;
    std::uint64_t source_elements = 0;  // sizes of the two buffers; 0: no buffer
    std::uint64_t target_elements = 0;
    bool in_place = false;         // this rank's call is in place
    bool input_in_target = false;  // the input lies in the target
    std::vector<block> given, got;
    bool reduces = false;  // false: the collective moves elements
    rank_t reduced = 0;    // the output reduces the input of ranks 0 to `reduced` - 1
};

// Returns the layout of one rank.
[[nodiscard]] layout make_layout(const problem& wanted, rank_t rank);

}  // namespace ucg::reference
