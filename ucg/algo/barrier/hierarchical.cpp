#include "ucg/algo/barrier/barrier.hpp"
#include "ucg/algo/common/levels.hpp"

namespace ucg::algo::barrier {

task hierarchical::run(member& me, const call& what) {
    const level_place at(me, 1);
    if (at.here > 1) co_await me.together(what);
    if (at.leads) {
        member leader = me.part(leaders_of_all(me, 0), at.node, at.nodes);
        co_await dissemination::run(leader, what);
    }
    if (at.here > 1) co_await me.together(what);
}

std::size_t hierarchical::scratch_on_nodes(const call&, rank_t, const placement& where) {
    return leaders_size(where);
}

double hierarchical::cost(const shape& of, const link_cost& link) {
    const shape leaders = between_nodes(of, 0, 1);
    return 2 * node_cost(of, link, collective::barrier, 0) + dissemination::cost(leaders, link);
}

}  // namespace ucg::algo::barrier
