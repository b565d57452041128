#include "ucg/algo/common/binomial.hpp"

#include <array>

#include "ucg/algo/bcast/bcast.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/prices.hpp"

namespace ucg::algo::bcast {

task binomial::run(member& me, const call& what) {
    const std::size_t bytes = what.count * what.element;
    const binomial_place at(me.rank(), me.size(), what.root);
    if (!at.is_root()) co_await me.receive(at.parent(), what.into, bytes);
    std::array<flight, children_at_once> sends;
    unsigned next = 0;
    for (rank_t distance = at.reach() / 2; distance != 0; distance /= 2) {
        if (!at.has_child(distance)) continue;
        flight& free = sends[next++ % children_at_once];
        co_await free;
        free.send(me, at.child(distance), what.into, bytes);
    }
    for (flight& each : sends)
        co_await each;
}

std::size_t binomial::scratch(const call&, rank_t, rank_t) {
    return 0;
}

double binomial::cost(const shape& of, const link_cost& link) {
    rounds all(of, link);
    for (rank_t distance = std::bit_ceil(of.ranks) / 2; distance != 0; distance /= 2)
        all.tree(distance, of.bytes);
    return all.total();
}

}  // namespace ucg::algo::bcast
