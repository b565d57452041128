#include "ucg/algo/common/levels.hpp"
#include "ucg/algo/common/partial_reducer.hpp"
#include "ucg/algo/reduce/reduce.hpp"

namespace ucg::algo::reduce {
namespace {

// Below it, a segment takes few rounds between nodes; above, few bytes.
constexpr double tree_up_to = 0.25;  // of tuning::segment
// What Rabenseifner's algorithm cuts into as many pieces as there are nodes is longer.
constexpr double least_piece = 0.0625;  // of tuning::segment

bool by_tree(double segment, const schedule::tuning& sizes) noexcept {
    return segment <= tree_up_to * static_cast<double>(sizes.segment);
}

double segment_bytes(const schedule::tuning& sizes, const placement& where) noexcept {
    const auto segment = static_cast<double>(sizes.segment);
    return std::max(segment, least_piece * segment * where.nodes());
}

cut segments_on(const call& what, const placement& where) noexcept {
    const double bytes = segment_bytes(what.sizes, where);
    return segments_of(what.count, what.element, static_cast<std::size_t>(bytes));
}

bool uses_tree(const call& what, const cut& pieces) noexcept {
    return by_tree(static_cast<double>(pieces.longest() * what.element), what.sizes);
}

// Of one lane: what the node has reduced, and what the flat algorithm takes.
std::size_t room_of(const call& what, const placement& where) noexcept {
    const cut pieces = segments_on(what, where);
    call part = what;
    part.count = pieces.longest();
    return schedule::arena::for_pieces_of(uses_tree(what, pieces)
                                              ? ordered_binomial::scratch(part, 0, where.nodes())
                                              : rabenseifner::scratch(part, 0, where.nodes()));
}

struct stages {
    const call& what;
    const partial_reducer how;
    const cut pieces;
    const rank_t* leaders;
    const level_place at;
    const rank_t root_node;
    const rank_t leader;  // its place on this node
    std::byte* reduced;   // by this node, of each lane; not at the root
    std::uint64_t segments = pieces.pieces;
    bool opens = at.here > 1;
    bool closes = false;
    bool tree = uses_tree(what, pieces);
    bool is_root = at.node == root_node && at.index == leader;
    std::array<call, lanes> between_nodes{};

    [[nodiscard]] std::byte* result(std::uint64_t segment) const noexcept {
        if (is_root) return bytes_of(what.into) + pieces.begin(segment) * what.element;
        return reduced + segment % lanes * pieces.longest() * what.element;
    }
    [[nodiscard]] const std::byte* input(std::uint64_t segment) const noexcept {
        return input_of(what) + pieces.begin(segment) * what.element;
    }
    [[nodiscard]] call opening(std::uint64_t segment) const noexcept {
        call made = what;
        made.how = &how;
        made.from = input(segment);
        made.into = at.index == leader ? result(segment) : nullptr;
        made.in_place = is_root && what.in_place;
        made.count = pieces.size(segment);
        made.root = leader;
        return made;
    }
    [[nodiscard]] call closing(std::uint64_t) const noexcept { return what; }
    static task between(member& me, stages& all, std::uint64_t segment) {
        if (all.at.index != all.leader) co_return;
        call& part = all.between_nodes[segment % lanes];
        part = all.what;
        part.count = all.pieces.size(segment);
        part.from = all.opens ? all.result(segment) : all.input(segment);
        part.into = all.is_root ? all.result(segment) : nullptr;
        part.in_place = all.is_root && (all.opens || all.what.in_place);
        part.root = all.root_node;
        member one = me.part(all.leaders, all.at.node, all.at.nodes);
        if (all.tree)
            co_await ordered_binomial::run(one, part);
        else
            co_await rabenseifner::run(one, part);
    }
};

}  // namespace

task hierarchical::run(member& me, const call& what) {
    const level_place at(me, 1);
    const placement& where = me.where();
    const rank_t root_node = where.node_of(what.root);
    const rank_t leader = root_node == at.node ? where.index_of(what.root) : 0;
    const cut pieces = segments_on(what, where);
    auto* const leaders = const_cast<rank_t*>(leaders_of_all(me, 0));
    leaders[root_node] = what.root;
    std::byte* const reduced = me.scratch(lanes * pieces.longest() * what.element);
    stages all{what, partial_reducer(*what.how), pieces, leaders, at, root_node, leader, reduced};
    const std::size_t room = room_of(what, where);
    co_await pass_levels(me, all, me.scratch(lanes * room), room);
}

std::size_t hierarchical::scratch_on_nodes(const call& what, rank_t, const placement& where) {
    return leaders_size(where) + lanes * segments_on(what, where).longest() * what.element +
           lanes * room_of(what, where);
}

double hierarchical::cost(const shape& of, const link_cost& link) {
    const double nodes = of.where->nodes();
    const double segments = std::max(of.bytes / segment_bytes(of.sizes, *of.where), 1.0);
    const double bytes = of.bytes / segments;
    const shape leaders = between_nodes(of, bytes, 1);
    const bool tree = by_tree(bytes, of.sizes);
    const double between = tree ? ordered_binomial::cost(leaders, link)
                                : rabenseifner::cost(leaders, link);
    const double passes = tree ? doublings(of.where->nodes()) : 2 * (nodes - 1) / nodes;
    return levels_cost(segments, node_cost(of, link, collective::reduce, bytes), between,
                       passes * bytes * link.per_byte, 0);
}

}  // namespace ucg::algo::reduce
