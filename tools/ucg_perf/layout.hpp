// What a rank has in memory for a collective.
#pragma once

#include <ucg/api/ucg.h>

#include <cstdint>
#include <vector>

namespace tools::ucg_perf {

// Elements that follow each other in a buffer, as they were made by one rank.
struct block {
    std::uint64_t at = 0;  // where they begin in the buffer
    std::uint64_t count = 0;
    std::uint32_t source = 0;  // whose they are; of no meaning where they are reduced
    std::uint32_t target = 0;  // for whom they are, where that makes a difference
    std::uint64_t first = 0;   // number of the first one
};

// What is asked of a collective, by every rank alike.
struct wanted_layout {
    ucg_coll_t what = UCG_COLL_BARRIER;
    std::uint64_t count = 0;  // elements, of a block where each rank has one for each other
    std::uint32_t root = 0;
    bool in_place = false;
};

// One rank's arguments in elements, what it gives, and what it must have got in the end.
struct layout {
    std::uint64_t count = 0;  // as ucg_coll_args_t has it
    std::vector<std::uint64_t> source_counts, target_counts;
    std::uint64_t source_elements = 0;  // sizes of the two buffers; 0: none
    std::uint64_t target_elements = 0;
    bool in_place = false;         // the flag
    bool given_in_target = false;  // the blocks given lie in the target
    std::vector<block> given, got;
    bool reduces = false;       // else elements are moved
    std::uint32_t reduced = 0;  // got: the elements of so many ranks, from rank 0
};

// Those v-forms whose blocks differ: a quarter more for one half of the ranks, less for the other.
[[nodiscard]] layout make_layout(const wanted_layout& of, std::uint32_t rank, std::uint32_t ranks);

// Elements that count in the bandwidth of the algorithm: the whole vector, blocks of all ranks.
[[nodiscard]] std::uint64_t whole(const wanted_layout& of, std::uint32_t ranks) noexcept;

// By what the bandwidth of the algorithm is multiplied to get that of the bus, as nccl-tests define
// it: the share of the data that must pass each rank's link at least once. 1 for what they do not
// have.
[[nodiscard]] double bus_factor(ucg_coll_t what, std::uint32_t ranks) noexcept;

}  // namespace tools::ucg_perf
