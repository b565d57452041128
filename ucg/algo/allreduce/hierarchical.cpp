#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/common/levels.hpp"
#include "ucg/algo/common/partial_reducer.hpp"

namespace ucg::algo::allreduce {
namespace {

enum class way : std::uint8_t { doubling, halving, around };

// Below it, a segment takes few rounds between nodes; above, few bytes. In the bits of the result
// there is no difference.
constexpr double doubling_up_to = 0.25;  // of tuning::segment

// A ring's messages between nodes are one block of as many as there are nodes.
constexpr double least_block = 0.125;  // of tuning::segment

division divide_for(bool ring, double bytes, const schedule::tuning& sizes,
                    const placement& where) noexcept {
    const double least =
        ring ? least_block * static_cast<double>(sizes.segment) * where.nodes() : 0;
    return divide(bytes, sizes, where, least);
}

way way_of(bool ring, const cut& segments, const call& what) noexcept {
    if (ring) return way::around;
    const double bytes = static_cast<double>(segments.longest() * what.element);
    return bytes <= doubling_up_to * static_cast<double>(what.sizes.segment) ? way::doubling
                                                                           : way::halving;
}

cut segments_by(const division& by, const call& what) noexcept {
    return segments_of(what.count, what.element, static_cast<std::size_t>(by.segment));
}

std::size_t scratch_between(way by, const call& share, rank_t nodes) noexcept {
    if (by == way::doubling) return recursive_doubling::scratch(share, 0, nodes);
    if (by == way::halving) return rabenseifner::scratch(share, 0, nodes);
    return ring::scratch(share, 0, nodes);
}

// The largest share of a leader.
call largest_share(const call& what, const division& by) noexcept {
    call made = what;
    made.count = cut{segments_by(by, what).longest(), by.leaders}.longest();
    return made;
}

std::size_t room_of(bool ring, const call& what, const placement& where) noexcept {
    const division by = divide_for(ring, bytes_in(what), what.sizes, where);
    const way between = way_of(ring, segments_by(by, what), what);
    return schedule::arena::for_pieces_of(
        scratch_between(between, largest_share(what, by), where.nodes()));
}

// The shares of a segment as the node's collectives take them: two tables of counts, and one of
// places for each, because segments differ by one element.
struct shares {
    std::uint64_t* table;
    rank_t here;

    [[nodiscard]] std::uint64_t* counts(bool longer) const noexcept {
        return table + (longer ? 2 * here : 0);
    }
    [[nodiscard]] std::uint64_t* places(bool longer) const noexcept {
        return counts(longer) + here;
    }
    [[nodiscard]] static std::size_t size(rank_t here) noexcept {
        return 4 * here * sizeof(std::uint64_t);
    }
    void fill(const cut& segments, rank_t leaders) noexcept {
        for (const bool longer : {false, true}) {
            const cut pieces{segments.count / segments.pieces + (longer ? 1 : 0), leaders};
            for (rank_t i = 0; i < here; ++i) {
                counts(longer)[i] = i < leaders ? pieces.size(i) : 0;
                places(longer)[i] = pieces.begin(std::min(i, leaders));
            }
        }
    }
};

// What pass_levels() asks for. A segment is reduced into the output, each share at its leader, and
// reduced further there.
struct stages {
    const call& what;
    const partial_reducer how;
    const level_place at;
    const rank_t leaders;
    const way by;
    const cut pieces;
    shares of;
    const rank_t* others;
    std::uint64_t segments = pieces.pieces;
    bool opens = at.here > 1;
    bool closes = at.here > 1;
    std::array<call, lanes> between_nodes{};

    [[nodiscard]] bool is_longer(std::uint64_t segment) const noexcept {
        return pieces.size(segment) != pieces.count / pieces.pieces;
    }
    [[nodiscard]] std::uint64_t share(std::uint64_t segment) const noexcept {
        return of.counts(is_longer(segment))[at.index];
    }
    [[nodiscard]] std::byte* result(std::uint64_t segment) const noexcept {
        return bytes_of(what.into) + pieces.begin(segment) * what.element;
    }
    [[nodiscard]] std::byte* mine(std::uint64_t segment) const noexcept {
        return result(segment) + of.places(is_longer(segment))[at.index] * what.element;
    }

    [[nodiscard]] call opening(std::uint64_t segment) const noexcept {
        call made = what;
        made.how = &how;
        made.from = input_of(what) + pieces.begin(segment) * what.element;
        made.in_place = false;
        made.root = 0;
        if (leaders == 1) {
            made.what = collective::reduce;
            made.into = at.leads ? result(segment) : nullptr;
            made.count = pieces.size(segment);
            made.in_place = at.leads && what.in_place;
            return made;
        }
        // In place, the share of the result lies exactly where it lay in the input.
        made.what = collective::reduce_scatter;
        made.into = mine(segment);
        made.count = share(segment);
        made.counts = of.counts(is_longer(segment));
        made.places = of.places(is_longer(segment));
        return made;
    }
    [[nodiscard]] call closing(std::uint64_t segment) const noexcept {
        call made = what;
        made.how = nullptr;
        made.from = nullptr;
        made.into = result(segment);
        made.root = 0;
        made.in_place = false;
        made.what = collective::bcast;
        made.count = pieces.size(segment);
        if (leaders == 1) return made;
        made.what = collective::allgatherv;
        made.in_place = true;
        made.count = share(segment);
        made.counts = of.counts(is_longer(segment));
        made.places = of.places(is_longer(segment));
        return made;
    }

    static task between(member& me, stages& all, std::uint64_t segment) {
        if (!all.at.leads) co_return;
        call& share = all.between_nodes[segment % lanes];
        share = all.what;
        // A rank that is alone on its node begins with its input.
        share.in_place = all.opens || all.what.in_place;
        share.from = input_of(all.what) + all.pieces.begin(segment) * share.element +
                     (all.mine(segment) - all.result(segment));
        share.into = all.mine(segment);
        share.count = all.share(segment);
        member leader = me.part(all.others, all.at.node, all.at.nodes);
        if (all.by == way::doubling)
            co_await recursive_doubling::run(leader, share);
        else if (all.by == way::halving)
            co_await rabenseifner::run(leader, share);
        else
            co_await ring::run(leader, share);
    }
};

task run_levels(member& me, const call& what, bool ring) {
    const division by = divide_for(ring, bytes_in(what), what.sizes, me.where());
    const level_place at(me, by.leaders);
    const cut pieces = segments_by(by, what);
    shares of{reinterpret_cast<std::uint64_t*>(me.scratch(shares::size(at.here))), at.here};
    of.fill(pieces, by.leaders);
    const std::size_t room = room_of(ring, what, me.where());
    stages all{what,   partial_reducer(*what.how),    at, by.leaders, way_of(ring, pieces, what),
               pieces, of, leaders_of_all(me, at.index)};
    co_await pass_levels(me, all, me.scratch(lanes * room), room);
}

std::size_t scratch_of(bool ring, const call& what, rank_t rank, const placement& where) {
    const auto here = static_cast<rank_t>(where.on(where.node_of(rank)).size());
    return shares::size(here) + leaders_size(where) + lanes * room_of(ring, what, where);
}

double cost_of(bool with_ring, const shape& of, const link_cost& link) noexcept {
    const division by = divide_for(with_ring, of.bytes, of.sizes, *of.where);
    const double segments = std::max(of.bytes / by.segment, 1.0);
    const double bytes = of.bytes / segments;
    const double nodes = of.where->nodes();
    const bool few_rounds = !with_ring && bytes <= doubling_up_to * of.segment();
    const shape leaders = between_nodes(of, bytes / by.leaders, by.leaders);
    const double between = with_ring    ? ring::cost(leaders, link)
                           : few_rounds ? recursive_doubling::cost(leaders, link)
                                        : rabenseifner::cost(leaders, link);
    const double passes =
        few_rounds ? doublings(of.where->nodes()) : 2 * (nodes - 1) / nodes;
    const bool one = by.leaders == 1;
    const double opening =
        node_cost(of, link, one ? collective::reduce : collective::reduce_scatter, bytes,
                  bytes / by.leaders);
    const double closing =
        node_cost(of, link, one ? collective::bcast : collective::allgatherv, bytes,
                  bytes / by.leaders);
    return levels_cost(segments, opening, between, passes * bytes * link.per_byte, closing);
}

}  // namespace

task hierarchical::run(member& me, const call& what) {
    return run_levels(me, what, false);
}

std::size_t hierarchical::scratch_on_nodes(const call& what, rank_t rank, const placement& where) {
    return scratch_of(false, what, rank, where);
}

task hierarchical_ring::run(member& me, const call& what) {
    return run_levels(me, what, true);
}

std::size_t hierarchical_ring::scratch_on_nodes(const call& what, rank_t rank,
                                                const placement& where) {
    return scratch_of(true, what, rank, where);
}

double hierarchical::cost(const shape& of, const link_cost& link) {
    return cost_of(false, of, link);
}

double hierarchical_ring::cost(const shape& of, const link_cost& link) {
    return cost_of(true, of, link);
}

}  // namespace ucg::algo::allreduce
