// What a rank sends, and to whom.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/moe/channels.hpp"
#include "ucg/moe/choices.hpp"
#include "ucg/moe/lists.hpp"
#include "ucg/moe/settings.hpp"

namespace ucg::moe {

// To one rank: those tokens that it gets, or, where it is a relay, that its node gets.
struct path {
    rank_t target = 0;
    bool relayed = false;
    // Paths are in the order of these, in which combine adds up: the rank, or the lowest one of the
    // node that the relay serves.
    rank_t order = 0;
};

// A value, immutable once made.
struct outgoing {
    channel_ranges ranges{0, 1, 1};
    std::vector<std::uint32_t> to_node;  // [nodes, channels] tokens, each counted once
    std::vector<std::uint32_t> to_rank;  // [ranks, channels]
    std::vector<std::uint8_t> relayed;   // [nodes] whether by a relay; never to the own node
    std::vector<path> paths;             // to the own rank as well; none without tokens
    lists tokens;                        // of each path and channel, ascending

    // std::bad_alloc.
    [[nodiscard]] static outgoing make(const team& of, const choices& chosen, const settings& by);
    // For predictions.
    [[nodiscard]] traffic traffic_to(const team& of, const settings& by,
                                     rank_t node) const noexcept;

private:
    void count(const team& of, const choices& chosen, std::uint32_t channels);
    void choose_routes(const team& of, const settings& by);
    void list(const team& of, const choices& chosen, std::uint32_t channels);
};

}  // namespace ucg::moe
