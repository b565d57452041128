#include "ucg/sim/judging.hpp"

namespace ucg::sim {

void judge(network& net, const std::deque<schedule::operation>& operations, outcome& result) {
    for (rank_t rank = 0; rank < net.like().ranks; ++rank) {
        const rank_fabric& at = net.of(rank);
        if (at.dead()) continue;
        if (const ucs_status_t status = operations[rank].status(); status != UCS_OK)
            result.status = status;
        const double end = static_cast<double>(at.clock()) / per_second;
        if (end < result.seconds) continue;
        result.seconds = end;
        result.last = rank;
        result.why = at.how();
    }
    result.steps = result.why.steps.steps();
    if (result.status != UCS_OK) result.wrong = ucs_status_string(result.status);
}

void count_traffic(const network& net, outcome& result) {
    for (rank_t node = 0; node < net.nodes(); ++node) {
        result.nodes.push_back({net.node_out(node).charged, net.node_in(node).charged});
        result.messages += net.node_out(node).messages;
    }
    result.inside = net.charged_inside();
    result.messages += net.messages_inside();
    result.events = net.events();
}

}  // namespace ucg::sim
