// Predicts the time of the two routes to another node: direct, or over a relay on that node.
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

}  // namespace ucg::moe
