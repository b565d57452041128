// What a plan says, as the matrices that programs for this purpose know.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/moe/plan.hpp"

namespace ucg::moe {

using table = std::vector<std::int32_t>;

// Row by row. They say the same whatever the routes are: what a relay's matrices count may come
// directly nevertheless. `channels` columns where there are some; sums include the channel, the
// node or the rank that they are of. std::bad_alloc.

// [nodes, channels] sums over channels, tokens once
[[nodiscard]] table sent_to_node(const plan& what);
// [ranks, channels] sums over channels
[[nodiscard]] table sent_to_rank(const plan& what);
// [nodes] sums over nodes: tokens for this node that this rank is the relay of, by the source's
// node
[[nodiscard]] table relayed(const plan& what);
// [nodes, channels] sums over channels
[[nodiscard]] table relayed_by_channel(const plan& what);
// [ranks] sums over source ranks
[[nodiscard]] table received(const plan& what);
// [ranks, channels] first row
[[nodiscard]] table received_begin(const plan& what);
// [tokens, nodes] place of a token among those of its channel to the node; -1: not sent
[[nodiscard]] table send_place(const plan& what);
// [relayed tokens, ranks of this node] place of a token among those of its source and channel to
// the rank; -1: not sent. In the order of (source, channel, place).
[[nodiscard]] table relay_place(const plan& what);
// [tokens, ranks] place of a token among those of its channel to the rank; -1: not sent
[[nodiscard]] table rank_place(const plan& what);
// [ranks, channels] rows of the rank's channels before this one
[[nodiscard]] table received_before(const plan& what);
// [ranks, ranks] sums over source ranks, as received() is on each rank; of plans with a census
[[nodiscard]] table received_by_all(const plan& what);
// [rows] the token at its source
[[nodiscard]] table source_token(const plan& what);
// [rows] the source's node
[[nodiscard]] table source_node(const plan& what);
// [rows, ranks of this node] 1: this rank gets the token as well; of plans that have holders
[[nodiscard]] table holders(const plan& what);
// [local experts] rows, rounded up to the alignment
[[nodiscard]] table per_expert(const plan& what, std::uint32_t alignment = 1);

// Rows that can come at most, where no rank has more than `most_tokens`: flat, or, with an
// alignment that is not 0, in the expanded layout.
[[nodiscard]] std::uint64_t most_rows(const team& of, std::uint32_t k, std::uint64_t most_tokens,
                                      std::uint32_t alignment = 0) noexcept;

}  // namespace ucg::moe
