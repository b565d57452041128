// The layout of a rank's buffers for a collective: input blocks, and the output blocks that it must
// have in the end.
#pragma once

#include <ucg/api/ucg.h>

#include <cstdint>
#include <vector>

namespace tools::ucg_perf {

// Consecutive elements in a buffer that come from one rank.
struct block {
    std::uint64_t offset = 0;  // first element in the buffer
    std::uint64_t count = 0;
    std::uint32_t source = 0;  // rank that provides them; unused in reductions
    std::uint32_t target = 0;  // rank that they are for, in alltoall and scatter
    std::uint64_t first = 0;   // index of the first element at its source
};

// The arguments of a collective that are the same on all ranks.
struct wanted_layout {
    ucg_coll_t collective = UCG_COLL_BARRIER;
    std::uint64_t count = 0;  // elements; of one block if each rank has a block for each rank
    std::uint32_t root = 0;
    bool in_place = false;
};

// The arguments of one rank in elements, its input blocks, and the output that it must have in the
// end.
struct layout {
    std::uint64_t count = 0;  // ucg_coll_args_t::count
    std::vector<std::uint64_t> source_counts, target_counts;
    std::uint64_t source_elements = 0;  // sizes of the two buffers; 0: no buffer
    std::uint64_t target_elements = 0;
    bool in_place = false;         // UCG_COLL_IN_PLACE is set
    bool input_in_target = false;  // the input lies in the target
    std::vector<block> given, got;
    bool reduces = false;       // false: the collective moves elements
    std::uint32_t reduced = 0;  // the output reduces the input of ranks 0 to `reduced` - 1
};

// In v-forms the blocks differ in size: they are a quarter larger for one half of the ranks, and a
// quarter smaller for the other half.
[[nodiscard]] layout make_layout(const wanted_layout& wanted, std::uint32_t rank,
                                 std::uint32_t ranks);

// Returns the elements that the algorithm's bandwidth counts: the whole vector, with the blocks of
// all ranks.
[[nodiscard]] std::uint64_t total_elements(const wanted_layout& wanted,
                                           std::uint32_t ranks) noexcept;

// Returns the factor from algorithm bandwidth to bus bandwidth, as nccl-tests define it: the share
// of the data that must cross each rank's link at least once. 1 for collectives that nccl-tests do
// not have.
[[nodiscard]] double bus_factor(ucg_coll_t collective, std::uint32_t ranks) noexcept;

}  // namespace tools::ucg_perf
