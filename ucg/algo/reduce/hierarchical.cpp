#include "ucg/algo/common/levels.hpp"
#include "ucg/algo/reduce/reduce.hpp"

namespace ucg::algo::reduce {
namespace {

// Segments up to this size use the algorithm with few rounds between nodes, longer segments the one
// with few bytes.
constexpr double tree_up_to = 0.25;  // of tuning::segment
// Minimum length of a piece of Rabenseifner's algorithm, which makes one piece for each node.
constexpr double least_piece = 0.0625;  // of tuning::segment

bool uses_tree(double segment, const schedule::tuning& sizes) noexcept {
    return segment <= tree_up_to * static_cast<double>(sizes.segment);
}

double segment_bytes(const schedule::tuning& sizes, const placement& placement) noexcept {
    const auto segment = static_cast<double>(sizes.segment);
    return std::max(segment, least_piece * segment * placement.nodes());
}

cut segments_on(const call& args, const placement& placement) noexcept {
    const double bytes = segment_bytes(args.sizes, placement);
    return segments_of(args.count, args.element, static_cast<std::size_t>(bytes));
}

bool uses_tree(const call& args, const cut& pieces) noexcept {
    return uses_tree(static_cast<double>(pieces.longest() * args.element), args.sizes);
}

// Bytes of scratch memory of one lane: for the node's result, and for the flat algorithm.
std::size_t lane_scratch_size(const call& args, const placement& placement) noexcept {
    const cut pieces = segments_on(args, placement);
    call part = args;
    part.count = pieces.longest();
    return schedule::arena::for_pieces_of(
        uses_tree(args, pieces) ? ordered_binomial::scratch(part, 0, placement.nodes())
                                : rabenseifner::scratch(part, 0, placement.nodes()));
}

struct stages {
    const call& args;
    const partial_reducer partial;
    const cut pieces;
    const rank_t* leaders;
    const level_position position;
    const rank_t root_node;
    const rank_t leader;  // index of the leader on this node
    std::byte* reduced;   // this node's result for each lane; not used at the root
    std::uint64_t segments = pieces.pieces;
    bool opens = position.ranks_here > 1;
    bool closes = false;
    bool tree = uses_tree(args, pieces);
    bool is_root = position.node == root_node && position.index == leader;
    std::array<call, lanes> between_nodes{};

    [[nodiscard]] std::byte* result(std::uint64_t segment) const noexcept {
        if (is_root) return bytes_of(args.into) + pieces.begin(segment) * args.element;
        return reduced + segment % lanes * pieces.longest() * args.element;
    }
    [[nodiscard]] const std::byte* input(std::uint64_t segment) const noexcept {
        return input_of(args) + pieces.begin(segment) * args.element;
    }
    [[nodiscard]] call opening(std::uint64_t segment) const noexcept {
        call made = args;
        made.op = &partial;
        made.from = input(segment);
        made.into = position.index == leader ? result(segment) : nullptr;
        made.in_place = is_root && args.in_place;
        made.count = pieces.size(segment);
        made.root = leader;
        return made;
    }
    [[nodiscard]] call closing(std::uint64_t) const noexcept { return args; }
    static task between(member& me, stages& all, std::uint64_t segment) {
        if (all.position.index != all.leader) co_return;
        call& part = all.between_nodes[segment % lanes];
        part = all.args;
        part.count = all.pieces.size(segment);
        part.from = all.opens ? all.result(segment) : all.input(segment);
        part.into = all.is_root ? all.result(segment) : nullptr;
        part.in_place = all.is_root && (all.opens || all.args.in_place);
        part.root = all.root_node;
        member one = me.part(all.leaders, all.position.node, all.position.nodes);
        if (all.tree)
            co_await ordered_binomial::run(one, part);
        else
            co_await rabenseifner::run(one, part);
    }
};

}  // namespace

task hierarchical::run(member& me, const call& args) {
    const level_position position(me, 1);
    const placement& placement = me.node_placement();
    const rank_t root_node = placement.node_of(args.root);
    const rank_t leader = root_node == position.node ? placement.index_of(args.root) : 0;
    const cut pieces = segments_on(args, placement);
    rank_t* const leaders = leaders_of_all(me, 0);
    leaders[root_node] = args.root;
    std::byte* const reduced = me.scratch(lanes * pieces.longest() * args.element);
    stages all{args,   partial_reducer(*args.op), pieces, leaders, position, root_node, leader,
               reduced};
    const std::size_t lane_bytes = lane_scratch_size(args, placement);
    co_await pass_levels(me, all, me.scratch(lanes * lane_bytes), lane_bytes);
}

std::size_t hierarchical::scratch_on_nodes(const call& args, rank_t, const placement& placement) {
    return leaders_size(placement) + lanes * segments_on(args, placement).longest() * args.element +
           lanes * lane_scratch_size(args, placement);
}

double hierarchical::cost(const shape& params, const link_cost& link) {
    const double segments =
        std::max(params.bytes / segment_bytes(params.sizes, *params.node_placement), 1.0);
    const double bytes = params.bytes / segments;
    const shape leaders = between_nodes(params, bytes, 1);
    const bool tree = uses_tree(bytes, params.sizes);
    const leader_work passes(params.node_placement->nodes(), tree);
    segment_cost each;
    each.opening = node_cost(params, link, collective::reduce, bytes);
    each.between = tree ? ordered_binomial::cost(leaders, link) : rabenseifner::cost(leaders, link);
    each.held = each.between;
    each.processor = passes.reduced * bytes * link.reduce_byte + passes.messages * link.per_message;
    each.port = passes.moved * bytes * link.per_byte;
    return levels_cost(segments, each);
}

}  // namespace ucg::algo::reduce
