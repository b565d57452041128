// The send plan of a rank: which tokens it sends to which ranks, and by which route.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/moe/plan/channels.hpp"
#include "ucg/moe/plan/choices.hpp"
#include "ucg/moe/plan/lists.hpp"
#include "ucg/moe/settings.hpp"

namespace ucg::moe {

// The tokens that this rank sends to one target: those that the target gets itself or, if it is a
// relay, those that any rank of its node gets.
struct path {
    rank_t target = 0;
    bool relayed = false;
    // Sort key of paths, and so the order in which combine adds up: the target or, for a relay, the
    // lowest rank of its node.
    rank_t order = 0;
};

// A value, immutable once made.
struct send_plan {
    channel_ranges ranges{0, 1, 1};
    std::vector<std::uint32_t> to_node;  // [nodes, channels] tokens; each counts once
    std::vector<std::uint32_t> to_rank;  // [ranks, channels] tokens
    std::vector<std::uint8_t> relayed;   // [nodes] 1: over a relay; 0 for the own node
    std::vector<path> paths;             // paths with tokens, including the one to this rank
    lists tokens;                        // tokens of each path and channel, ascending

    // Throws std::bad_alloc.
    [[nodiscard]] static send_plan make(const team& group, const choices& chosen,
                                        const settings& options);
    // Input of the cost prediction for a node.
    [[nodiscard]] traffic traffic_to(const team& group, const settings& options,
                                     rank_t node) const noexcept;

private:
    void count(const team& group, const choices& chosen, std::uint32_t channels);
    void choose_routes(const team& group, const settings& options);
    void list(const team& group, const choices& chosen, std::uint32_t channels);
};

}  // namespace ucg::moe
