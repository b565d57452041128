#include "ucg/sim/trial.hpp"

namespace ucg::sim {

void collect_results(network& net, const std::deque<schedule::operation>& operations,
                     outcome& result) {
    for (rank_t rank = 0; rank < net.spec().ranks; ++rank) {
        const rank_fabric& fabric = net.fabric(rank);
        if (fabric.is_dead()) continue;
        if (const ucs_status_t status = operations[rank].status(); status != UCS_OK)
            result.status = status;
        const double end = static_cast<double>(fabric.clock()) / per_second;
        if (end < result.seconds) continue;
        result.seconds = end;
        result.last = rank;
        result.critical_path = fabric.critical_path();
    }
    result.steps = result.critical_path.steps.steps();
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
