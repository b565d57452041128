// Broadcasts in segments: down a chain, and down a binary tree.
#include "ucg/algo/bcast/bcast.hpp"
#include "ucg/algo/common/pipeline.hpp"
#include "ucg/algo/common/prices.hpp"

namespace ucg::algo::bcast {
namespace {

cut segments_of_all(const call& what) noexcept {
    return segments_of(what.count, what.element, what.sizes.segment);
}

double pieces_of(const shape& of) noexcept {
    return of.bytes > of.segment() ? of.bytes / of.segment() : 1;
}

}  // namespace

task chain::run(member& me, const call& what) {
    const rank_t size = me.size();
    const rank_t place = (me.rank() + size - what.root) % size;
    tree_place at;
    if (place != 0) at.parent = (me.rank() + size - 1) % size;
    if (place + 1 != size) at.left = (me.rank() + 1) % size;
    co_await flow_down(me, what, at, bytes_of(what.into), segments_of_all(what));
}

std::size_t chain::scratch(const call&, rank_t, rank_t) {
    return 0;
}

double chain::cost(const shape& of, const link_cost& link) {
    if (of.ranks < 2) return 0;
    const double pieces = pieces_of(of);
    const double piece = of.bytes / pieces;
    const neighbourhood near(of, link);
    const auto next = [&](rank_t rank) {
        return rank + 1 < of.ranks ? rank + 1 : neighbourhood::none;
    };
    const auto crossed = near.cross(next);
    const double hops = of.ranks - 1;
    const double fill_cost = hops * (crossed.share * near.message(true, piece) +
                                     (1 - crossed.share) * near.message(false, piece));
    const double stage = std::max(crossed.most * near.wire(true, piece), near.wire(false, piece));
    return fill_cost + (pieces - 1) * (stage + near.per_message(crossed.most > 0));
}

task binary_tree::run(member& me, const call& what) {
    const rank_t size = me.size();
    const auto real = [&](rank_t r) { return r == no_rank ? r : (r + what.root) % size; };
    const tree_place at = in_order_tree((me.rank() + size - what.root) % size, size);
    co_await flow_down(me, what, {real(at.parent), real(at.left), real(at.right)},
                       bytes_of(what.into), segments_of_all(what));
}

std::size_t binary_tree::scratch(const call&, rank_t, rank_t) {
    return 0;
}

double binary_tree::cost(const shape& of, const link_cost& link) {
    const double pieces = pieces_of(of);
    const double piece = of.bytes / pieces;
    const neighbourhood near(of, link);
    const auto parent = [&](rank_t rank) { return in_order_tree(rank, of.ranks).parent; };
    // The second child gets its own after the first one.
    const double depth =
        depth_cost(near, parent, near.message(false, piece) + near.wire(false, piece),
                   near.message(true, piece) + near.wire(true, piece));
    const auto leaving = [&](rank_t rank) {
        const tree_place at = in_order_tree(rank, of.ranks);
        double edges = 0;
        for (const rank_t other : {at.left, at.right})
            if (other != no_rank && near.is_between(rank, other)) ++edges;
        return edges;
    };
    const double out = near.busiest(leaving);
    const double stage = std::max(out * near.wire(true, piece), 2 * near.wire(false, piece));
    return depth + (pieces - 1) * (stage + 2 * near.per_message(out > 0));
}

}  // namespace ucg::algo::bcast
