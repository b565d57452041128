// Tags of the messages of collectives.
//
//   bits 50..63  group, within the context   bits 20..31  channel
//   bit      49  series of the operation     bits  0..19  rank of the source
//   bits 32..48  its number, modulo 2^17
#pragma once

#include <cstdint>

#include "ucg/schedule/step.hpp"

namespace ucg::net {

inline constexpr unsigned source_bits = 20;
inline constexpr unsigned channel_bits = 12;
inline constexpr unsigned series_bits = 1;
inline constexpr unsigned sequence_bits = 17;
inline constexpr unsigned group_bits = 14;
static_assert(source_bits + channel_bits + sequence_bits + series_bits + group_bits == 64);

inline constexpr std::uint32_t max_ranks = 1U << source_bits;
inline constexpr std::uint32_t max_groups = 1U << group_bits;
// Operations of a series that a rank may have under way before another has started the first of
// them. Beyond that, their numbers would be taken for later ones.
inline constexpr std::uint32_t max_ahead = 1U << (sequence_bits - 1);

// Masks for the tags of all messages of a group, and of an operation.
inline constexpr std::uint64_t group_mask = ~std::uint64_t{0} << (64 - group_bits);
inline constexpr std::uint64_t operation_mask = ~std::uint64_t{0} << (source_bits + channel_bits);

[[nodiscard]] constexpr std::uint64_t operation_tag(std::uint32_t group,
                                                    schedule::sequence_t number) noexcept {
    const std::uint64_t sequence = number & ((1U << sequence_bits) - 1);
    const auto series = static_cast<std::uint64_t>(schedule::sequence_numbers::series_of(number));
    return std::uint64_t{group} << (64 - group_bits) | (series << sequence_bits | sequence)
                                                           << (channel_bits + source_bits);
}

[[nodiscard]] constexpr std::uint64_t message_tag(std::uint32_t group, schedule::sequence_t number,
                                                  schedule::channel_t channel,
                                                  schedule::rank_t source) noexcept {
    return operation_tag(group, number) | std::uint64_t{channel} << source_bits | source;
}

}  // namespace ucg::net
