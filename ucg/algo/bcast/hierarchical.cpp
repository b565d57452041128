// Hierarchical broadcasts: among one leader of each node by a flat algorithm, and inside nodes.
#include "ucg/algo/bcast/bcast.hpp"
#include "ucg/algo/common/levels.hpp"

namespace ucg::algo::bcast {
namespace {

using flat = task (*)(member& me, const call& args);

// The leader of the root's node is the root; the leader of each other node is its first rank.
const rank_t* leaders_below(member& me, rank_t root) noexcept {
    rank_t* const leaders = leaders_of_all(me, 0);
    leaders[me.node_placement().node_of(root)] = root;
    return leaders;
}

struct stages {
    const call& args;
    const flat algorithm;
    const cut pieces;
    const rank_t* leaders;
    const level_position position;
    const rank_t root_node;
    const rank_t leader;  // index of the leader on this node
    std::uint64_t segments = pieces.pieces;
    bool opens = false;
    bool closes = position.ranks_here > 1;
    std::array<call, lanes> between_nodes{};

    [[nodiscard]] call part_of(std::uint64_t segment) const noexcept {
        call made = args;
        made.into = bytes_of(args.into) + pieces.begin(segment) * args.element;
        made.count = pieces.size(segment);
        // Each call carries one segment.
        made.sizes.segment = std::max<std::size_t>(made.count * made.element, 1);
        return made;
    }
    [[nodiscard]] call opening(std::uint64_t) const noexcept { return args; }
    [[nodiscard]] call closing(std::uint64_t segment) const noexcept {
        call made = part_of(segment);
        made.root = leader;
        return made;
    }
    static task between(member& me, stages& all, std::uint64_t segment) {
        if (all.position.index != all.leader) co_return;
        call& part = all.between_nodes[segment % lanes];
        part = all.part_of(segment);
        part.root = all.root_node;
        member one = me.part(all.leaders, all.position.node, all.position.nodes);
        co_await all.algorithm(one, part);
    }
};

task pass_down(member& me, const call& args, flat algorithm) {
    const level_position position(me, 1);
    const rank_t root_node = me.node_placement().node_of(args.root);
    const rank_t leader = root_node == position.node ? me.node_placement().index_of(args.root) : 0;
    stages all{args,
               algorithm,
               segments_of(args.count, args.element, args.sizes.segment),
               leaders_below(me, args.root),
               position,
               root_node,
               leader};
    co_await pass_levels(me, all, nullptr, 0);
}

using flat_cost = double (*)(const shape& params, const link_cost& link);

// `sends`: the maximum number of times that a segment leaves a node.
double cost_of(const shape& params, const link_cost& link, flat_cost algorithm,
               double sends) noexcept {
    const double segments = std::max(params.bytes / params.segment(), 1.0);
    const double bytes = params.bytes / segments;
    shape leaders = between_nodes(params, bytes, 1);
    leaders.sizes.segment = static_cast<std::size_t>(std::max(bytes, 1.0));
    segment_cost each;
    each.between = algorithm(leaders, link);
    each.closing = node_cost(params, link, collective::bcast, bytes);
    each.processor = (sends + 1) * link.per_message / 2;
    each.port = sends * std::max(bytes * link.per_byte, link.gap);
    each.held = link.latency + 2 * each.port;
    return levels_cost(segments, each);
}

}  // namespace

task hierarchical::run(member& me, const call& args) {
    return pass_down(me, args, &binomial::run);
}

std::size_t hierarchical::scratch_on_nodes(const call&, rank_t, const placement& placement) {
    return leaders_size(placement);
}

task hierarchical_tree::run(member& me, const call& args) {
    return pass_down(me, args, &binary_tree::run);
}

std::size_t hierarchical_tree::scratch_on_nodes(const call&, rank_t, const placement& placement) {
    return leaders_size(placement);
}

task hierarchical_chain::run(member& me, const call& args) {
    return pass_down(me, args, &chain::run);
}

std::size_t hierarchical_chain::scratch_on_nodes(const call&, rank_t, const placement& placement) {
    return leaders_size(placement);
}

double hierarchical::cost(const shape& params, const link_cost& link) {
    return cost_of(params, link, &binomial::cost, doublings(params.node_placement->nodes()));
}

double hierarchical_tree::cost(const shape& params, const link_cost& link) {
    return cost_of(params, link, &binary_tree::cost, params.node_placement->nodes() < 4 ? 1 : 2);
}

double hierarchical_chain::cost(const shape& params, const link_cost& link) {
    return cost_of(params, link, &chain::cost, 1);
}

}  // namespace ucg::algo::bcast
