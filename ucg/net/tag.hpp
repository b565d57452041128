// How messages of collectives are told apart: layout of their tags.
//
//   bits 50..63  group, of the context    bits 20..31  channel
//   bits 32..49  operation, going round   bits  0..19  rank of the source
#pragma once

#include <cstdint>

#include "ucg/schedule/step.hpp"

namespace ucg::net {

inline constexpr unsigned source_bits = 20;
inline constexpr unsigned channel_bits = 12;
inline constexpr unsigned sequence_bits = 18;
inline constexpr unsigned group_bits = 14;
static_assert(source_bits + channel_bits + sequence_bits + group_bits == 64);

inline constexpr std::uint32_t most_ranks = 1U << source_bits;
inline constexpr std::uint32_t most_groups = 1U << group_bits;
// Operations of a group that may be under way on one rank before another has begun the first of
// them; beyond that numbers would be mistaken for later ones.
inline constexpr std::uint32_t most_ahead = 1U << (sequence_bits - 1);

// Of every message of one operation.
inline constexpr std::uint64_t operation_mask = ~std::uint64_t{0} << (source_bits + channel_bits);

[[nodiscard]] constexpr std::uint64_t operation_tag(std::uint32_t group,
                                                    schedule::sequence_t number) noexcept {
    const std::uint64_t place = number & ((1U << sequence_bits) - 1);
    return std::uint64_t{group} << (sequence_bits + channel_bits + source_bits) |
           place << (channel_bits + source_bits);
}

[[nodiscard]] constexpr std::uint64_t message_tag(std::uint32_t group, schedule::sequence_t number,
                                                  schedule::channel_t channel,
                                                  schedule::rank_t source) noexcept {
    return operation_tag(group, number) | std::uint64_t{channel} << source_bits | source;
}

}  // namespace ucg::net
