// What goes around a ring of all ranks.
#pragma once

#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/row.hpp"

namespace ucg::algo {

// The blocks of `data` go around, each rank having its own at first: afterwards each has all.
// (p - 1) (a + N / p b), where N is the size of all.
task ring_allgather(member& me, const blocks<std::byte>& data);

// What is reduced around a ring.
struct ring_reduction {
    blocks<const std::byte> value;  // what this rank adds
    // Where the results of all blocks go; may be the place of `value`. Null: the last one goes to
    // `last`, and the others only pass through `passing` (as many bytes as ring_passing()).
    const blocks<std::byte>* results;
    std::byte* last;
    std::byte* passing;
    std::byte* spare;  // of ring_spare() bytes
    cut longest;       // the segments of the longest block
};

// The segments of a block of `count` elements, and bytes for two of them.
[[nodiscard]] cut ring_segments(const call& what, std::uint64_t count) noexcept;
[[nodiscard]] std::size_t ring_spare(const call& what, std::uint64_t longest) noexcept;
[[nodiscard]] std::size_t ring_passing(const call& what, std::uint64_t longest) noexcept;

// Afterwards rank r has block r, whose operands were taken in the order r + 1, r + 2, …, r. A
// segment is reduced while the next one travels, where blocks are longer than one. (p - 1) (a + N /
// p b) + N (p - 1) / p c where they are not.
task ring_reduce_scatter(member& me, const call& what, const ring_reduction& of);

}  // namespace ucg::algo
