// Allgather and reduce-scatter around a ring of all ranks.
#pragma once

#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/row.hpp"

namespace ucg::algo {

// Sends the blocks of `data` around the ring. At first each rank has its own block, at the end all
// blocks. Time: (p - 1) (a + N / p b), where N is the size of all blocks.
task ring_allgather(member& me, const blocks<std::byte>& data);

// The operands of a reduction around a ring.
struct ring_reduction {
    blocks<const std::byte> value;  // the input of this rank
    // The results of all blocks; may be the memory of `value`. If it is null, the block of this
    // rank goes to `last`, and the other blocks only pass through `passing` of ring_passing()
    // bytes.
    const blocks<std::byte>* results;
    std::byte* last;
    std::byte* passing;
    std::byte* spare;  // of ring_spare() bytes
    cut longest;       // the segments of the longest block
};

// The segments of a block of `count` elements, and the sizes of the buffers of ring_reduction.
[[nodiscard]] cut ring_segments(const call& args, std::uint64_t count) noexcept;
[[nodiscard]] std::size_t ring_spare(const call& args, std::uint64_t longest) noexcept;
[[nodiscard]] std::size_t ring_passing(const call& args, std::uint64_t longest) noexcept;

// Rank r ends with block r, reduced in the order of ranks r + 1, r + 2, …, r. If blocks are longer
// than one segment, a segment is reduced while the next one is in flight. Otherwise the time is
// (p - 1) (a + N / p b) + N (p - 1) / p c.
task ring_reduce_scatter(member& me, const call& args, const ring_reduction& reduction);

}  // namespace ucg::algo
