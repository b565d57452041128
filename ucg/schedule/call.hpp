// The arguments of one rank for a collective.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/schedule/collective.hpp"
#include "ucg/schedule/reducer.hpp"
#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

// The sizes by which algorithms cut their data and their messages.
struct tuning {
    std::size_t segment =
        128 * 1024;  // bytes of a piece that is in flight while another one is processed
    // Hierarchical algorithms: the number of ranks of a node that send to other nodes.
    std::size_t leader_bytes = 4096;  // minimum share of a leader
    rank_t leaders = 0;               // maximum number of leaders; 0: all ranks of a node
    rank_t rails = 1;                 // ports of a node; each port should have a leader
};

// Arguments with the meaning that MPI gives them. Buffers that a rank does not need may be null.
// Counts and offsets are in elements. An offset is the position at which a rank's block begins.
//
//  collective            from             into              count is of
//  bcast                 -                all               the whole
//  reduce, allreduce,    all              root / all        the whole
//    scan, exscan
//  gather(v)             all              root              this rank's input
//  scatter(v)            root             all               this rank's output
//  allgather(v)          all              all               this rank's input
//  reduce_scatter        all              all               this rank's output
//    (and _block)
//  alltoall              all              all               each block
//
// In place: the input lies in `into`. For gather(v) and allgather(v) it lies at the offset of this
// rank's block. For scatter(v) the root's block stays in `from`. For gather, reduce and scatter the
// flag matters at the root only. For alltoall(v) `counts` and `offsets` describe both buffers.
struct call {
    collective kind = collective::barrier;
    const void* from = nullptr;
    void* into = nullptr;
    std::uint64_t count = 0;
    std::size_t element = 1;  // bytes

    // Blocks that differ in size (names that end in v, and reduce_scatter): one entry for each
    // rank. reduce_scatter ignores `offsets`, because its input has no gaps. gatherv and scatterv
    // use them at the root only.
    const std::uint64_t* counts = nullptr;
    const std::uint64_t* offsets = nullptr;
    // alltoallv: counts and offsets of the sent blocks; the members above are those of the received
    // blocks.
    const std::uint64_t* out_counts = nullptr;
    const std::uint64_t* out_offsets = nullptr;

    const reducer* op = nullptr;
    rank_t root = 0;
    bool in_place = false;
    tuning sizes{};
};

}  // namespace ucg::schedule
