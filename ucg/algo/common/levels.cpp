#include "ucg/algo/common/levels.hpp"

#include <algorithm>
#include <cmath>

#include "ucg/schedule/node_cost.hpp"

namespace ucg::algo {
namespace {

// Limits of a leader's share of a segment, as divisors of tuning::segment.
constexpr double longest = 2;
constexpr double shortest = 16;

}  // namespace

task shared_memory::run(member& me, const call& args) {
    co_await me.node_collective(args);
}

double shared_memory::cost(const shape&, const link_cost&) {
    return -1;  // less than any prediction
}

leader_division divide(double bytes, const schedule::tuning& sizes, const placement& placement,
                       double least_share) noexcept {
    const double most = sizes.leaders == 0
                            ? placement.min_ranks_per_node()
                            : std::min(sizes.leaders, placement.min_ranks_per_node());
    const double shares = bytes / static_cast<double>(sizes.leader_bytes);
    const double rails = shares < 2 ? 1 : sizes.rails;
    leader_division made;
    made.leaders = static_cast<rank_t>(std::clamp(std::max(shares, rails), 1.0, most));
    const auto segment = static_cast<double>(sizes.segment);
    const double share =
        std::clamp(bytes / made.leaders / lanes, segment / shortest, segment / longest);
    made.segment = std::max(share, least_share) * made.leaders;
    return made;
}

rank_t* leaders_of_all(member& me, rank_t index) noexcept {
    const placement& placement = me.node_placement();
    auto* const ranks = reinterpret_cast<rank_t*>(me.scratch(leaders_size(placement)));
    for (rank_t node = 0; node < placement.nodes(); ++node)
        ranks[node] = placement.at(
            node,
            std::min<rank_t>(index, static_cast<rank_t>(placement.ranks_on(node).size()) - 1));
    return ranks;
}

std::size_t leaders_size(const placement& placement) noexcept {
    return placement.nodes() * sizeof(rank_t);
}

// If processor and port are needed for about the same time, each sometimes waits for the other one,
// so neither is fully used.
double levels_cost(double segments, const segment_cost& each) noexcept {
    const double meeting = each.opening + each.closing;
    const double processor = meeting + each.processor;
    constexpr double sharpness = 5;
    const double both =
        std::pow(std::pow(processor, sharpness) + std::pow(each.port, sharpness), 1 / sharpness);
    const double next = std::max(both, (meeting + each.held) / lanes);
    return each.opening + each.between + each.closing + (segments - 1) * next;
}

leader_work::leader_work(rank_t nodes, bool doubling) noexcept {
    const rank_t left = std::bit_floor(nodes);
    const double steps = std::bit_width(left) - 1;
    const double part = static_cast<double>(left - 1) / left;
    const double folds = left == nodes ? 0 : 1;
    messages = (doubling ? steps : 2 * steps) + 2 * folds;
    moved = (doubling ? steps : 2 * part) + folds;
    reduced = (doubling ? steps : part) + folds;
}

leader_work leader_work::of_ring(rank_t nodes) noexcept {
    leader_work made(nodes, true);
    const double others = nodes - 1;
    made.messages = 2 * others;
    made.moved = 2 * others / nodes;
    made.reduced = others / nodes;
    return made;
}

shape between_nodes(const shape& params, double bytes, rank_t leaders) noexcept {
    shape made = params;
    made.ranks = params.node_placement->nodes();
    made.root = params.node_placement->node_of(params.root);
    made.bytes = bytes;
    made.node_placement = nullptr;
    made.sharing = leaders;
    return made;
}

double node_cost(const shape& params, const link_cost& link, collective kind, double bytes,
                 double largest) noexcept {
    const rank_t ranks = params.node_placement->max_ranks_per_node();
    if (ranks == 1) return 0;
    schedule::node_shape shape{kind, ranks, bytes, bytes * ranks, bytes};
    if (largest > 0) {
        shape.total = bytes;
        shape.largest = largest;
    }
    return schedule::node_cost_of(shape, link.node).total();
}

}  // namespace ucg::algo
