// Broadcasts among one rank of each node, by the flat algorithms, and inside nodes.
#include "ucg/algo/bcast/bcast.hpp"
#include "ucg/algo/common/levels.hpp"

namespace ucg::algo::bcast {
namespace {

using flat = task (*)(member& me, const call& what);

// The root leads its node, and the first ranks the others.
const rank_t* leaders_below(member& me, rank_t root) noexcept {
    const rank_t* const first = leaders_of_all(me, 0);
    if (first != nullptr) const_cast<rank_t*>(first)[me.where().node_of(root)] = root;
    return first;
}

struct stages {
    const call& what;
    const flat by;
    const cut pieces;
    const rank_t* leaders;
    const level_place at;
    const rank_t root_node;
    const rank_t leader;  // its place on this node
    std::uint64_t segments = pieces.pieces;
    bool opens = false;
    bool closes = at.here > 1;
    std::array<call, lanes> between_nodes{};

    [[nodiscard]] call part_of(std::uint64_t segment) const noexcept {
        call made = what;
        made.into = bytes_of(what.into) + pieces.begin(segment) * what.element;
        made.count = pieces.size(segment);
        // What comes here is one segment.
        made.sizes.segment = std::max<std::size_t>(made.count * made.element, 1);
        return made;
    }
    [[nodiscard]] call opening(std::uint64_t) const noexcept { return what; }
    [[nodiscard]] call closing(std::uint64_t segment) const noexcept {
        call made = part_of(segment);
        made.root = leader;
        return made;
    }
    static task between(member& me, stages& all, std::uint64_t segment) {
        if (all.at.index != all.leader) co_return;
        call& part = all.between_nodes[segment % lanes];
        part = all.part_of(segment);
        part.root = all.root_node;
        member one = me.part(all.leaders, all.at.node, all.at.nodes);
        co_await all.by(one, part);
    }
};

task pass_down(member& me, const call& what, flat by) {
    const level_place at(me, 1);
    const rank_t root_node = me.where().node_of(what.root);
    const rank_t leader = root_node == at.node ? me.where().index_of(what.root) : 0;
    stages all{what,
               by,
               segments_of(what.count, what.element, what.sizes.segment),
               leaders_below(me, what.root),
               at,
               root_node,
               leader};
    co_await pass_levels(me, all, nullptr, 0);
}

using flat_cost = double (*)(const shape& of, const link_cost& link);

// `sends`: how often a segment leaves the node that sends most.
double cost_of(const shape& of, const link_cost& link, flat_cost by, double sends) noexcept {
    const double segments = std::max(of.bytes / of.segment(), 1.0);
    const double bytes = of.bytes / segments;
    shape leaders = between_nodes(of, bytes, 1);
    leaders.sizes.segment = static_cast<std::size_t>(std::max(bytes, 1.0));
    const double busy = sends * (bytes * link.per_byte + link.per_message);
    return levels_cost(segments, 0, by(leaders, link), busy,
                       node_cost(of, link, collective::bcast, bytes));
}

}  // namespace

task hierarchical::run(member& me, const call& what) {
    return pass_down(me, what, &binomial::run);
}

std::size_t hierarchical::scratch_on_nodes(const call&, rank_t, const placement& where) {
    return leaders_size(where);
}

task hierarchical_tree::run(member& me, const call& what) {
    return pass_down(me, what, &binary_tree::run);
}

std::size_t hierarchical_tree::scratch_on_nodes(const call&, rank_t, const placement& where) {
    return leaders_size(where);
}

task hierarchical_chain::run(member& me, const call& what) {
    return pass_down(me, what, &chain::run);
}

std::size_t hierarchical_chain::scratch_on_nodes(const call&, rank_t, const placement& where) {
    return leaders_size(where);
}

double hierarchical::cost(const shape& of, const link_cost& link) {
    return cost_of(of, link, &binomial::cost, doublings(of.where->nodes()));
}

double hierarchical_tree::cost(const shape& of, const link_cost& link) {
    return cost_of(of, link, &binary_tree::cost, 2);
}

double hierarchical_chain::cost(const shape& of, const link_cost& link) {
    return cost_of(of, link, &chain::cost, 1);
}

}  // namespace ucg::algo::bcast
