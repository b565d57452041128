#include "ucg/moe/settings.hpp"

#include <algorithm>

namespace ucg::moe {
namespace {

// The time on the network between nodes, if all ranks of the node share its ports.
double network_time(const traffic& load, const link_costs& costs, double tokens, double messages) {
    const double sharing = std::max(load.ranks_here / costs.ports, 1.0);
    return messages * costs.between_nodes.per_message +
           tokens * load.token_bytes * costs.between_nodes.per_byte * sharing;
}

}  // namespace

double direct_time(const traffic& load, const link_costs& costs) noexcept {
    const double messages = static_cast<double>(load.messages) * load.targets;
    return costs.between_nodes.latency +
           network_time(load, costs, static_cast<double>(load.copies), messages);
}

// Two stages, which overlap except for one message.
double relayed_time(const traffic& load, const link_costs& costs) noexcept {
    const double first = network_time(load, costs, static_cast<double>(load.tokens), load.messages);
    const double second =
        static_cast<double>(load.messages) * load.targets * costs.within_node.per_message +
        static_cast<double>(load.copies) * load.token_bytes *
            (costs.within_node.per_byte + costs.within_node.copy_byte);
    return costs.between_nodes.latency + costs.within_node.latency + std::max(first, second) +
           std::min(first, second) / std::max(load.messages, 1U);
}

}  // namespace ucg::moe
