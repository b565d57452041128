#include "ucg/moe/cost.hpp"

#include <algorithm>

namespace ucg::moe {
namespace {

// Between nodes, with the ports shared by all ranks of the node.
double network_time(const traffic& what, const link_costs& over, double tokens, double messages) {
    const double sharing = std::max(what.ranks_here / over.ports, 1.0);
    return messages * over.between.per_message +
           tokens * what.token_bytes * over.between.per_byte * sharing;
}

}  // namespace

double direct_time(const traffic& what, const link_costs& over) noexcept {
    const double messages = static_cast<double>(what.messages) * what.targets;
    return over.between.latency +
           network_time(what, over, static_cast<double>(what.copies), messages);
}

// Two stages that overlap but for one message.
double relayed_time(const traffic& what, const link_costs& over) noexcept {
    const double first =
        network_time(what, over, static_cast<double>(what.tokens), what.messages);
    const double second =
        static_cast<double>(what.messages) * what.targets * over.inside.per_message +
        static_cast<double>(what.copies) * what.token_bytes *
            (over.inside.per_byte + over.inside.copy_byte);
    return over.between.latency + over.inside.latency + std::max(first, second) +
           std::min(first, second) / std::max(what.messages, 1U);
}

}  // namespace ucg::moe
