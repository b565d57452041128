#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/common/levels.hpp"

namespace ucg::algo::allreduce {
namespace {

enum class method : std::uint8_t { doubling, halving, around };

// Segments up to this size use the algorithm with few rounds between nodes, longer segments the one
// with few bytes. Both give the same bits.
constexpr double doubling_up_to = 0.25;  // of tuning::segment

// Minimum length of a ring's messages between nodes. A message is one block, and there is one block
// for each node.
constexpr double least_block = 0.125;  // of tuning::segment

leader_division divide_for(bool ring, double bytes, const schedule::tuning& sizes,
                           const placement& placement) noexcept {
    const double least =
        ring ? least_block * static_cast<double>(sizes.segment) * placement.nodes() : 0;
    return divide(bytes, sizes, placement, least);
}

method choose_method(bool ring, const cut& segments, const call& args) noexcept {
    if (ring) return method::around;
    const double bytes = static_cast<double>(segments.longest() * args.element);
    return bytes <= doubling_up_to * static_cast<double>(args.sizes.segment) ? method::doubling
                                                                             : method::halving;
}

cut segments_for(const leader_division& parts, const call& args) noexcept {
    return segments_of(args.count, args.element, static_cast<std::size_t>(parts.segment));
}

std::size_t scratch_between(method method, const call& share, rank_t nodes) noexcept {
    if (method == method::doubling) return recursive_doubling::scratch(share, 0, nodes);
    if (method == method::halving) return rabenseifner::scratch(share, 0, nodes);
    return ring::scratch(share, 0, nodes);
}

// Returns the call for the largest share of a leader.
call largest_share(const call& args, const leader_division& parts) noexcept {
    call made = args;
    made.count = cut{segments_for(parts, args).longest(), parts.leaders}.longest();
    return made;
}

std::size_t lane_scratch_size(bool ring, const call& args, const placement& placement) noexcept {
    const leader_division parts = divide_for(ring, bytes_in(args), args.sizes, placement);
    const method between = choose_method(ring, segments_for(parts, args), args);
    return schedule::arena::for_pieces_of(
        scratch_between(between, largest_share(args, parts), placement.nodes()));
}

// The leaders' shares of a segment, in the form that the collectives of a node need: counts and
// offsets for each rank. There are two sets of tables, because segment lengths differ by one
// element.
struct shares {
    std::uint64_t* table;
    rank_t ranks_here;

    [[nodiscard]] std::uint64_t* counts(bool longer) const noexcept {
        return table + (longer ? 2 * ranks_here : 0);
    }
    [[nodiscard]] std::uint64_t* offsets(bool longer) const noexcept {
        return counts(longer) + ranks_here;
    }
    [[nodiscard]] static std::size_t size(rank_t ranks_here) noexcept {
        return 4 * ranks_here * sizeof(std::uint64_t);
    }
    void fill(const cut& segments, rank_t leaders) noexcept {
        for (const bool longer : {false, true}) {
            const cut pieces{segments.count / segments.pieces + (longer ? 1 : 0), leaders};
            for (rank_t i = 0; i < ranks_here; ++i) {
                counts(longer)[i] = i < leaders ? pieces.size(i) : 0;
                offsets(longer)[i] = pieces.begin(std::min(i, leaders));
            }
        }
    }
};

// The stages for pass_levels(). The opening reduces a segment into the output, each share at its
// leader; the leaders then reduce their shares further in place.
struct stages {
    const call& args;
    const partial_reducer partial;
    const level_position position;
    const rank_t leaders;
    const method between_method;
    const cut pieces;
    shares cuts;
    const rank_t* others;
    std::uint64_t segments = pieces.pieces;
    bool opens = position.ranks_here > 1;
    bool closes = position.ranks_here > 1;
    std::array<call, lanes> between_nodes{};

    [[nodiscard]] bool is_longer(std::uint64_t segment) const noexcept {
        return pieces.size(segment) != pieces.count / pieces.pieces;
    }
    [[nodiscard]] std::uint64_t share(std::uint64_t segment) const noexcept {
        return cuts.counts(is_longer(segment))[position.index];
    }
    [[nodiscard]] std::byte* result(std::uint64_t segment) const noexcept {
        return bytes_of(args.into) + pieces.begin(segment) * args.element;
    }
    [[nodiscard]] std::byte* own_share(std::uint64_t segment) const noexcept {
        return result(segment) + cuts.offsets(is_longer(segment))[position.index] * args.element;
    }

    [[nodiscard]] call opening(std::uint64_t segment) const noexcept {
        call made = args;
        made.op = &partial;
        made.from = input_of(args) + pieces.begin(segment) * args.element;
        made.in_place = false;
        made.root = 0;
        if (leaders == 1) {
            made.kind = collective::reduce;
            made.into = position.leads ? result(segment) : nullptr;
            made.count = pieces.size(segment);
            made.in_place = position.leads && args.in_place;
            return made;
        }
        // In place, the share of the result has the same address as the share of the input.
        made.kind = collective::reduce_scatter;
        made.into = own_share(segment);
        made.count = share(segment);
        made.counts = cuts.counts(is_longer(segment));
        made.offsets = cuts.offsets(is_longer(segment));
        return made;
    }
    [[nodiscard]] call closing(std::uint64_t segment) const noexcept {
        call made = args;
        made.op = nullptr;
        made.from = nullptr;
        made.into = result(segment);
        made.root = 0;
        made.in_place = false;
        made.kind = collective::bcast;
        made.count = pieces.size(segment);
        if (leaders == 1) return made;
        made.kind = collective::allgatherv;
        made.in_place = true;
        made.count = share(segment);
        made.counts = cuts.counts(is_longer(segment));
        made.offsets = cuts.offsets(is_longer(segment));
        return made;
    }

    static task between(member& me, stages& all, std::uint64_t segment) {
        if (!all.position.leads) co_return;
        call& share = all.between_nodes[segment % lanes];
        share = all.args;
        // Without an opening stage (one rank on the node), the leader begins with its input.
        share.in_place = all.opens || all.args.in_place;
        share.from = input_of(all.args) + all.pieces.begin(segment) * share.element +
                     (all.own_share(segment) - all.result(segment));
        share.into = all.own_share(segment);
        share.count = all.share(segment);
        member leader = me.part(all.others, all.position.node, all.position.nodes);
        if (all.between_method == method::doubling)
            co_await recursive_doubling::run(leader, share);
        else if (all.between_method == method::halving)
            co_await rabenseifner::run(leader, share);
        else
            co_await ring::run(leader, share);
    }
};

task run_levels(member& me, const call& args, bool ring) {
    const leader_division parts = divide_for(ring, bytes_in(args), args.sizes, me.node_placement());
    const level_position position(me, parts.leaders);
    const cut pieces = segments_for(parts, args);
    shares cuts{reinterpret_cast<std::uint64_t*>(me.scratch(shares::size(position.ranks_here))),
                position.ranks_here};
    cuts.fill(pieces, parts.leaders);
    const std::size_t lane_bytes = lane_scratch_size(ring, args, me.node_placement());
    stages all{args,          partial_reducer(*args.op),         position,
               parts.leaders, choose_method(ring, pieces, args), pieces,
               cuts,          leaders_of_all(me, position.index)};
    co_await pass_levels(me, all, me.scratch(lanes * lane_bytes), lane_bytes);
}

std::size_t scratch_of(bool ring, const call& args, rank_t rank, const placement& placement) {
    const auto ranks_here = static_cast<rank_t>(placement.ranks_on(placement.node_of(rank)).size());
    return shares::size(ranks_here) + leaders_size(placement) +
           lanes * lane_scratch_size(ring, args, placement);
}

double cost_of(bool with_ring, const shape& params, const link_cost& link) noexcept {
    const leader_division parts =
        divide_for(with_ring, params.bytes, params.sizes, *params.node_placement);
    const double segments = std::max(params.bytes / parts.segment, 1.0);
    const double bytes = params.bytes / segments;
    const bool few_rounds = !with_ring && bytes <= doubling_up_to * params.segment();
    const double share = bytes / parts.leaders;
    const shape leaders = between_nodes(params, share, parts.leaders);
    const bool one = parts.leaders == 1;
    const leader_work passes = with_ring ? leader_work::of_ring(params.node_placement->nodes())
                                         : leader_work(params.node_placement->nodes(), few_rounds);
    segment_cost each;
    each.opening = node_cost(params, link, one ? collective::reduce : collective::reduce_scatter,
                             bytes, share);
    each.closing =
        node_cost(params, link, one ? collective::bcast : collective::allgatherv, bytes, share);
    each.between = with_ring    ? ring::cost(leaders, link)
                   : few_rounds ? recursive_doubling::cost(leaders, link)
                                : rabenseifner::cost(leaders, link);
    each.held = each.between;
    each.processor = passes.reduced * share * link.reduce_byte + passes.messages * link.per_message;
    each.port = passes.moved * bytes * link.per_byte;
    return levels_cost(segments, each);
}

}  // namespace

task hierarchical::run(member& me, const call& args) {
    return run_levels(me, args, false);
}

std::size_t hierarchical::scratch_on_nodes(const call& args, rank_t rank,
                                           const placement& placement) {
    return scratch_of(false, args, rank, placement);
}

task hierarchical_ring::run(member& me, const call& args) {
    return run_levels(me, args, true);
}

std::size_t hierarchical_ring::scratch_on_nodes(const call& args, rank_t rank,
                                                const placement& placement) {
    return scratch_of(true, args, rank, placement);
}

double hierarchical::cost(const shape& params, const link_cost& link) {
    return cost_of(false, params, link);
}

double hierarchical_ring::cost(const shape& params, const link_cost& link) {
    return cost_of(true, params, link);
}

}  // namespace ucg::algo::allreduce
