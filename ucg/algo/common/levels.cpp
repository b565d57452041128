#include "ucg/algo/common/levels.hpp"

#include <algorithm>

#include "ucg/node/cost.hpp"

namespace ucg::algo {

division divide(double bytes, const schedule::tuning& sizes, const placement& where,
                double least_share) noexcept {
    const double most =
        sizes.leaders == 0 ? where.fewest() : std::min(sizes.leaders, where.fewest());
    const double shares = bytes / static_cast<double>(sizes.leader_bytes);
    const double rails = shares < 2 ? 1 : sizes.rails;
    division made;
    made.leaders = static_cast<rank_t>(std::clamp(std::max(shares, rails), 1.0, most));
    const double share = std::max(static_cast<double>(sizes.segment) / 2, least_share);
    made.segment = share * made.leaders;
    return made;
}

const rank_t* leaders_of_all(member& me, rank_t index) noexcept {
    const placement& where = me.where();
    auto* const ranks = reinterpret_cast<rank_t*>(me.scratch(leaders_size(where)));
    if (ranks == nullptr) return nullptr;
    for (rank_t node = 0; node < where.nodes(); ++node)
        ranks[node] = where.at(node, std::min<rank_t>(
                                         index, static_cast<rank_t>(where.on(node).size()) - 1));
    return ranks;
}

std::size_t leaders_size(const placement& where) noexcept {
    return where.nodes() * sizeof(rank_t);
}

double levels_cost(double segments, double opening, double between, double busy,
                   double closing) noexcept {
    const double first = opening + between + closing;
    const double next = std::max({opening + closing, busy, first / lanes});
    return first + (segments - 1) * next;
}

shape between_nodes(const shape& of, double bytes, rank_t leaders) noexcept {
    shape made = of;
    made.ranks = of.where->nodes();
    made.root = of.where->node_of(of.root);
    made.bytes = bytes;
    made.where = nullptr;
    made.sharing = leaders;
    return made;
}

double node_cost(const shape& of, const link_cost& link, collective what, double bytes,
                 double largest) noexcept {
    const rank_t ranks = of.where->most();
    if (ranks == 1) return 0;
    node::asked asked{what, ranks, bytes, bytes * ranks, bytes};
    if (largest > 0) {
        asked.total = bytes;
        asked.largest = largest;
    }
    return node::cost_of(asked, link.node).total();
}

}  // namespace ucg::algo
