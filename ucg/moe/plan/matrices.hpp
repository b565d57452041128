// The contents of a plan as the matrices that programs written for DeepEP use.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/moe/plan/plan.hpp"

namespace ucg::moe {

using table = std::vector<std::int32_t>;

// Matrices are stored row by row. They do not depend on the routes: the matrices of a relay also
// count tokens that are sent directly. A sum over channels, nodes or ranks includes the entry at
// which it stands. All functions throw std::bad_alloc.

// [nodes, channels] sums over channels of tokens; a token counts once for each node
[[nodiscard]] table sent_to_node(const plan& plan);
// [ranks, channels] sums over channels
[[nodiscard]] table sent_to_rank(const plan& plan);
// [nodes] sums over source nodes: tokens for this node whose relay is this rank
[[nodiscard]] table relayed(const plan& plan);
// [nodes, channels] sums over channels
[[nodiscard]] table relayed_by_channel(const plan& plan);
// [ranks] sums over source ranks
[[nodiscard]] table received(const plan& plan);
// [ranks, channels] first row
[[nodiscard]] table received_begin(const plan& plan);
// [tokens, nodes] index of a token among the tokens of its channel to the node; -1: not sent
[[nodiscard]] table send_place(const plan& plan);
// [relayed tokens, ranks of this node] index of a token among the tokens of its source and channel
// to the rank; -1: not sent. Rows are sorted by source, channel and index.
[[nodiscard]] table relay_place(const plan& plan);
// [tokens, ranks] index of a token among the tokens of its channel to the rank; -1: not sent
[[nodiscard]] table rank_place(const plan& plan);
// [ranks, channels] number of rows in the rank's channels before this one
[[nodiscard]] table received_before(const plan& plan);
// [ranks, ranks] sums over source ranks: column r is received() of rank r. Only for plans with
// settings::all_counts.
[[nodiscard]] table received_by_all(const plan& plan);
// [rows] number of the token at its source
[[nodiscard]] table source_token(const plan& plan);
// [rows] the source's node
[[nodiscard]] table source_node(const plan& plan);
// [rows, ranks of this node] 1: the rank of the column gets the token as well. Only for plans with
// settings::holders.
[[nodiscard]] table holders(const plan& plan);
// [local experts] rows, rounded up to the alignment
[[nodiscard]] table per_expert(const plan& plan, std::uint32_t alignment = 1);

// Maximum number of rows that a rank can receive if no rank has more than `max_tokens` tokens. An
// alignment other than 0 asks for the rows of the expanded layout.
[[nodiscard]] std::uint64_t max_rows(const team& group, std::uint32_t k, std::uint64_t max_tokens,
                                     std::uint32_t alignment = 0) noexcept;

}  // namespace ucg::moe
