// The parameter of the collective kernels, and the shape of a launch.
//
// Both entries of the image (list.hpp) have one parameter, a `parameters` by value. All ranks of
// the group launch the same kernel with the same number of blocks and the same count, type,
// operation and root.
//
//     entry           entry_of(run)
//     grid            1 to layout.channels blocks, the same on every rank
//     block           32 to max_threads threads, a multiple of 32
//     shared memory   none
//     stream          launches of one group are ordered: one begins when the one before has ended
//
// All blocks of a launch must be able to run at the same time, because a block waits for the same
// block of other ranks: launch at most as many as the device has multiprocessors, divided by the
// ranks that share the device. No launch is cooperative. The same parameters may be launched again
// any number of times, also from a graph.
//
// A launch ends early if a rank has failed, *abort is not 0, or a rank has not come after
// `timeout_ns`. It then writes a failure_word() to *report. The output is undefined, and every
// later launch of this group on this rank ends at once with the same report.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/cuda/kernels/list.hpp"
#include "ucg/cuda/layout.hpp"
#include "ucg/reduce/element.hpp"

namespace ucg::cuda {

inline constexpr std::uint32_t max_threads = 512;

struct parameters {
    // The area of each rank at its address in this process, a multiple of 256. areas[rank] is this
    // rank's own.
    std::byte* areas[max_ranks];
    layout area;
    kernel run;
    std::uint32_t rank;
    std::uint32_t ranks;  // at most max_ranks
    std::uint32_t root;   // broadcast

    // Buffers of this rank, in memory that its device can access. They need no alignment and are
    // not accessed by other ranks. The kernels allow the overlaps of operations in place; list.hpp
    // names them.
    const void* from;
    void* into;
    std::uint64_t count;          // elements; list.hpp says which
    std::uint32_t element_bytes;  // 1, 2, 4, 8 or 16 for reductions
    reduce::element type;         // reductions
    reduce::operation op;         // reductions; must be defined for the type

    // Words in host memory that is mapped into the device. The host sets *abort to end the launch.
    const std::uint32_t* abort;
    std::uint64_t* report;
    std::uint64_t timeout_ns;
};

// The reasons for which a launch ends early.
enum class failure : std::uint8_t {
    none,
    aborted,      // *abort was set
    timed_out,    // a rank posted no flag for `timeout_ns`
    peer_failed,  // a rank has failed and posted failed_flag
};

// A failure in one word: its reason, and the rank and channel of the flag that was waited for.
struct failure_report {
    failure reason;
    std::uint8_t peer;
    std::uint16_t channel;
};
[[nodiscard]] constexpr std::uint64_t failure_word(failure_report failed) noexcept {
    return static_cast<std::uint64_t>(failed.reason) | std::uint64_t{failed.peer} << 8U |
           std::uint64_t{failed.channel} << 16U;
}
[[nodiscard]] constexpr failure_report failure_of(std::uint64_t word) noexcept {
    return {static_cast<failure>(word & 0xffU), static_cast<std::uint8_t>(word >> 8U & 0xffU),
            static_cast<std::uint16_t>(word >> 16U & 0xffffU)};
}

}  // namespace ucg::cuda
