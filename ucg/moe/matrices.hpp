// What a plan says, as the matrices that programs for this purpose know.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/moe/plan.hpp"

namespace ucg::moe {

// Row by row. They say the same whatever the routes are: what a relay's matrices count may come
// directly nevertheless. `channels` columns where there are some; sums include the channel, the
// node or the rank that they are of.
struct matrices {
    std::vector<std::int32_t> sent_to_node;   // [nodes, channels] sums over channels, tokens once
    std::vector<std::int32_t> sent_to_rank;   // [ranks, channels] sums over channels
    std::vector<std::int32_t> relayed;        // [nodes] sums over nodes: tokens for this node that
                                              // this rank is the relay of, by the source's node
    std::vector<std::int32_t> relayed_by_channel;  // [nodes, channels] sums over channels
    std::vector<std::int32_t> received;            // [ranks] sums over source ranks
    std::vector<std::int32_t> received_begin;      // [ranks, channels] first row
    // [tokens, nodes] place of a token among those of its channel to the node; -1: not sent
    std::vector<std::int32_t> send_place;
    // [relayed tokens, ranks of this node] place of a token among those of its source and channel
    // to the rank; -1: not sent. In the order of (source, channel, place).
    std::vector<std::int32_t> relay_place;
    std::vector<std::int32_t> per_expert;  // [local experts] rows, rounded up to the alignment
};

// std::bad_alloc.
[[nodiscard]] matrices matrices_of(const plan& what, std::uint32_t alignment = 1);

// Rows that can come at most, where no rank has more than `most_tokens`: flat, or, with an alignment
// that is not 0, in the expanded layout.
[[nodiscard]] std::uint64_t most_rows(const team& of, std::uint32_t k, std::uint64_t most_tokens,
                                      std::uint32_t alignment = 0) noexcept;

}  // namespace ucg::moe
