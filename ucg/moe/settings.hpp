// Settings of notify: channels, route and optional contents of the plan.
#pragma once

#include <cstdint>

#include "ucg/schedule/algorithm.hpp"

namespace ucg::moe {

// The costs of links that predictions use.
struct link_costs {
    schedule::link_cost within_node{5e-7, 5e-11, 5e-11, 5e-11, 2e-7};    // within a node
    schedule::link_cost between_nodes{2e-6, 8e-11, 5e-11, 5e-11, 5e-7};  // between nodes
    double ports = 1;  // ports of a node, which its ranks share
};

// The amount that one rank sends to the ranks of one node.
struct traffic {
    std::uint64_t tokens = 0;      // each token counts once
    std::uint64_t copies = 0;      // a token counts once for each rank
    std::uint32_t targets = 1;     // ranks of that node that get tokens
    std::uint32_t ranks_here = 1;  // ranks of the sender's node, which send at the same time
    std::uint32_t messages = 1;    // messages that carry the tokens for one rank
    double token_bytes = 0;
};

// Return predicted seconds.
[[nodiscard]] double direct_time(const traffic& load, const link_costs& costs) noexcept;
[[nodiscard]] double relayed_time(const traffic& load, const link_costs& costs) noexcept;

enum class route : std::uint8_t {
    choose,   // the sender takes the cheaper route to each node by predicted time
    direct,   // one copy over the network for each rank that gets the token
    relayed,  // one copy for each node that has several living ranks
};

// `channels` and `all_counts` must be the same on every rank. The other settings may differ.
struct settings {
    static constexpr std::uint32_t max_channels = 1024;

    std::uint32_t channels = 8;  // a rank's tokens are cut into so many channels
    std::uint32_t min_channel_tokens =
        32;  // minimum length, in tokens, of all channels but the last one
    route routing = route::choose;
    double token_bytes = 8192;  // expected size, for the choice of the route
    link_costs costs;
    bool all_counts = false;  // the plan gets the token counts of all pairs of ranks
    bool holders = false;     // the plan records which local ranks receive the same rows
};

}  // namespace ucg::moe
