#include "ucg/algo/common/binomial.hpp"

#include <array>

#include "ucg/algo/bcast/bcast.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo::bcast {

task binomial::run(member& me, const call& args) {
    const std::size_t bytes = args.count * args.element;
    const binomial_node tree(me.rank(), me.size(), args.root);
    if (!tree.is_root()) co_await me.receive(tree.parent(), args.into, bytes);
    std::array<flight, children_at_once> sends;
    unsigned next = 0;
    for (rank_t distance = tree.reach() / 2; distance != 0; distance /= 2) {
        if (!tree.has_child(distance)) continue;
        flight& free = sends[next++ % children_at_once];
        co_await free;
        free.send(me, tree.child(distance), args.into, bytes);
    }
    for (flight& each : sends)
        co_await each;
}

double binomial::cost(const shape& params, const link_cost& link) {
    return binomial_cost(
        params, link, [&](rank_t) { return params.bytes; }, 0);
}

}  // namespace ucg::algo::bcast
