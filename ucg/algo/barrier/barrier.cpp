#include "ucg/algo/barrier/barrier.hpp"

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/levels.hpp"
#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo::barrier {

task dissemination::run(member& me, const call&) {
    const rank_t size = me.size();
    for (rank_t distance = 1; distance < size; distance *= 2) {
        const rank_t to = (me.rank() + distance) % size;
        const rank_t from = (me.rank() + size - distance) % size;
        co_await me.exchange(to, nullptr, 0, from, nullptr, 0);
    }
}

double dissemination::cost(const shape& params, const link_cost& link) {
    round_costs all(params, link);
    for (rank_t distance = 1; distance < params.ranks; distance *= 2)
        all.shift(distance, 0);
    return all.total();
}

task hierarchical::run(member& me, const call& args) {
    const level_position position(me, 1);
    if (position.ranks_here > 1) co_await me.node_collective(args);
    if (position.leads) {
        member leader = me.part(leaders_of_all(me, 0), position.node, position.nodes);
        co_await dissemination::run(leader, args);
    }
    if (position.ranks_here > 1) co_await me.node_collective(args);
}

std::size_t hierarchical::scratch_on_nodes(const call&, rank_t, const placement& placement) {
    return leaders_size(placement);
}

double hierarchical::cost(const shape& params, const link_cost& link) {
    const shape leaders = between_nodes(params, 0, 1);
    return 2 * node_cost(params, link, collective::barrier, 0) + dissemination::cost(leaders, link);
}

}  // namespace ucg::algo::barrier
