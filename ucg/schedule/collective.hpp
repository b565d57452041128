// The collectives and their properties.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucg::schedule {

using rank_t = std::uint32_t;

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

[[nodiscard]] const char* name(collective collective) noexcept;

// Properties of a collective. A rank has blocks if its input or output has one part for each rank.
struct traits {
    bool reduces = false;         // with an operator
    bool scans = false;           // the result of a rank covers the ranks up to it
    bool root_gives = false;      // only the root has input
    bool root_takes = false;      // only the root has output
    bool gives_blocks = false;    // the input has blocks
    bool takes_blocks = false;    // the output has blocks
    bool has_counts = false;      // blocks may differ in size
    bool has_two_buffers = true;  // input and output have own buffers, so a call can be in place

    [[nodiscard]] constexpr bool has_root() const noexcept { return root_gives || root_takes; }
    [[nodiscard]] constexpr bool has_blocks() const noexcept {
        return gives_blocks || takes_blocks;
    }
};

// Returns the properties of a collective.
[[nodiscard]] constexpr traits traits_of(collective collective) noexcept {
    switch (collective) {
        case collective::barrier:
            return {.has_two_buffers = false};
        case collective::bcast:
            return {.root_gives = true, .has_two_buffers = false};
        case collective::reduce:
            return {.reduces = true, .root_takes = true};
        case collective::allreduce:
            return {.reduces = true};
        case collective::gather:
            return {.root_takes = true, .takes_blocks = true};
        case collective::gatherv:
            return {.root_takes = true, .takes_blocks = true, .has_counts = true};
        case collective::scatter:
            return {.root_gives = true, .gives_blocks = true};
        case collective::scatterv:
            return {.root_gives = true, .gives_blocks = true, .has_counts = true};
        case collective::allgather:
            return {.takes_blocks = true};
        case collective::allgatherv:
            return {.takes_blocks = true, .has_counts = true};
        case collective::reduce_scatter:
            return {.reduces = true, .gives_blocks = true, .has_counts = true};
        case collective::reduce_scatter_block:
            return {.reduces = true, .gives_blocks = true};
        case collective::alltoall:
            return {.gives_blocks = true, .takes_blocks = true};
        case collective::alltoallv:
            return {.gives_blocks = true, .takes_blocks = true, .has_counts = true};
        case collective::scan:
        case collective::exscan:
            return {.reduces = true, .scans = true};
    }
    return {};
}

}  // namespace ucg::schedule
