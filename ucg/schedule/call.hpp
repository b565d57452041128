// What one rank asks of a collective.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/schedule/reducer.hpp"
#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

enum class collective : std::uint8_t {
    barrier,
    bcast,
    reduce,
    allreduce,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    reduce_scatter,
    reduce_scatter_block,
    alltoall,
    alltoallv,
    scan,
    exscan,
};
inline constexpr std::size_t collective_count = 16;

[[nodiscard]] const char* name(collective which) noexcept;

// Whether it combines what ranks give by an operator.
[[nodiscard]] constexpr bool takes_operator(collective which) noexcept {
    return which == collective::reduce || which == collective::allreduce ||
           which == collective::reduce_scatter || which == collective::reduce_scatter_block ||
           which == collective::scan || which == collective::exscan;
}

// Whether one rank has what all others give or get.
[[nodiscard]] constexpr bool has_root(collective which) noexcept {
    return which == collective::bcast || which == collective::reduce ||
           which == collective::gather || which == collective::gatherv ||
           which == collective::scatter || which == collective::scatterv;
}

// Whether blocks may differ in size.
[[nodiscard]] constexpr bool has_block_counts(collective which) noexcept {
    return which == collective::gatherv || which == collective::scatterv ||
           which == collective::allgatherv || which == collective::reduce_scatter ||
           which == collective::alltoallv;
}

// Sizes that algorithms cut their data and their messages by.
struct tuning {
    std::size_t segment = 128 * 1024;  // bytes of a piece that travels while another is worked on
    // Of hierarchical algorithms: how many ranks of a node take part in what is between nodes.
    std::size_t leader_bytes = 4096;  // a leader has a share of at least so much
    rank_t leaders = 0;               // at most so many; 0: all ranks of a node
    rank_t rails = 1;                 // ports of a node, each of which wants a leader
};

// Arguments with the meaning that MPI gives them; buffers that a rank has no use for may be null.
// Counts and places are in elements; a place is where a rank's block begins.
//
//  collective            from             into              count is of
//  bcast                 -                all               the whole
//  reduce, allreduce,    all              root / all        the whole
//    scan, exscan
//  gather(v)             all              root              what this rank gives
//  scatter(v)            root             all               what this rank gets
//  allgather(v)          all              all               what this rank gives
//  reduce_scatter        all              all               what this rank gets
//    (and _block)
//  alltoall              all              all               each block
//
// In place: the input lies in `into`. Of gather(v) and allgather(v) where this rank's block
// belongs; of scatter(v), at the root, its block stays in `from`; of gather, reduce and scatter it
// counts at the root only. Of alltoall(v) `counts` and `places` describe both buffers.
struct call {
    collective what = collective::barrier;
    const void* from = nullptr;
    void* into = nullptr;
    std::uint64_t count = 0;
    std::size_t element = 1;  // bytes

    // Blocks that differ in size (names that end in v, reduce_scatter): one entry for each rank; of
    // reduce_scatter's input, which has no gaps, `places` is not looked at. Of gatherv and scatterv
    // at the root.
    const std::uint64_t* counts = nullptr;
    const std::uint64_t* places = nullptr;
    // alltoallv: of what is sent, while the above are of what is received.
    const std::uint64_t* out_counts = nullptr;
    const std::uint64_t* out_places = nullptr;

    const reducer* how = nullptr;
    rank_t root = 0;
    bool in_place = false;
    tuning sizes;
};

}  // namespace ucg::schedule
