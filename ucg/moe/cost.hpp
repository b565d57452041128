// Whether tokens go to the ranks of another node directly or by a relay there.
#pragma once

#include <cstdint>

#include "ucg/schedule/algorithm.hpp"

namespace ucg::moe {

// What predictions are made from.
struct link_costs {
    schedule::link_cost inside{5e-7, 5e-11, 5e-11, 5e-11, 2e-7};      // a node
    schedule::link_cost between{2e-6, 8e-11, 5e-11, 5e-11, 5e-7};     // nodes
    double ports = 1;  // of a node, which its ranks share on their way to other nodes
};

// What one rank sends to the ranks of one node.
struct traffic {
    std::uint64_t tokens = 0;  // each counted once
    std::uint64_t copies = 0;  // once for each rank
    std::uint32_t targets = 1;      // ranks of that node that get any
    std::uint32_t ranks_here = 1;   // of the sender's node, which send at the same time
    std::uint32_t messages = 1;     // that the tokens to one rank are cut into
    double token_bytes = 0;
};

// Seconds.
[[nodiscard]] double direct_time(const traffic& what, const link_costs& over) noexcept;
[[nodiscard]] double relayed_time(const traffic& what, const link_costs& over) noexcept;

}  // namespace ucg::moe
