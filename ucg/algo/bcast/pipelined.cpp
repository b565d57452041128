// Pipelined broadcasts: in segments down a chain, and down a binary tree.
#include <array>

#include "ucg/algo/bcast/bcast.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/round_costs.hpp"
#include "ucg/algo/common/trees.hpp"

namespace ucg::algo::bcast {
namespace {

// Receives each segment of `data` from the parent, if there is one, and sends it to the children
// while the next segment arrives.
task flow_down(member& me, const call& args, tree_links tree, std::byte* data, cut segments) {
    const auto place = [&](std::uint64_t i) { return data + segments.begin(i) * args.element; };
    const auto bytes = [&](std::uint64_t i) { return segments.size(i) * args.element; };
    std::array<flight, 2> in, to_left, to_right;
    const auto listen = [&](std::uint64_t i) {
        if (tree.parent != no_rank && i < segments.pieces)
            in[i % 2].receive(me, tree.parent, place(i), bytes(i));
    };
    listen(0);
    for (std::uint64_t i = 0; i < segments.pieces; ++i) {
        listen(i + 1);
        co_await in[i % 2];
        co_await to_left[i % 2];
        if (tree.left != no_rank) to_left[i % 2].send(me, tree.left, place(i), bytes(i));
        co_await to_right[i % 2];
        if (tree.right != no_rank) to_right[i % 2].send(me, tree.right, place(i), bytes(i));
    }
    for (unsigned i = 0; i < 2; ++i) {
        co_await to_left[i];
        co_await to_right[i];
    }
}

cut segments_of_all(const call& args) noexcept {
    return segments_of(args.count, args.element, args.sizes.segment);
}

double pieces_of(const shape& params) noexcept {
    return params.bytes > params.segment() ? params.bytes / params.segment() : 1;
}

}  // namespace

task chain::run(member& me, const call& args) {
    const rank_t size = me.size();
    const rank_t place = (me.rank() + size - args.root) % size;
    tree_links tree;
    if (place != 0) tree.parent = (me.rank() + size - 1) % size;
    if (place + 1 != size) tree.left = (me.rank() + 1) % size;
    co_await flow_down(me, args, tree, bytes_of(args.into), segments_of_all(args));
}

double chain::cost(const shape& params, const link_cost& link) {
    if (params.ranks < 2) return 0;
    const double pieces = pieces_of(params);
    const double piece = params.bytes / pieces;
    const link_model links(params, link);
    const auto next = [&](rank_t rank) {
        return rank + 1 < params.ranks ? rank + 1 : link_model::none;
    };
    const auto crossed = links.cross(next);
    const double hops = params.ranks - 1;
    const double fill_cost = hops * (crossed.share * links.message(true, piece) +
                                     (1 - crossed.share) * links.message(false, piece));
    const double stage = std::max(crossed.most * links.wire(true, piece), links.wire(false, piece));
    return fill_cost + (pieces - 1) * (stage + links.per_message(crossed.most > 0));
}

task binary_tree::run(member& me, const call& args) {
    const rank_t size = me.size();
    const auto real = [&](rank_t r) { return r == no_rank ? r : (r + args.root) % size; };
    const tree_links tree = in_order_tree((me.rank() + size - args.root) % size, size);
    co_await flow_down(me, args, {real(tree.parent), real(tree.left), real(tree.right)},
                       bytes_of(args.into), segments_of_all(args));
}

double binary_tree::cost(const shape& params, const link_cost& link) {
    const double pieces = pieces_of(params);
    const double piece = params.bytes / pieces;
    const link_model links(params, link);
    const auto parent = [&](rank_t rank) { return in_order_tree(rank, params.ranks).parent; };
    // The right child gets each segment after the left child.
    const auto hop = [&](rank_t rank, rank_t up) {
        const tree_links above = in_order_tree(up, params.ranks);
        const bool waits = above.right == rank && above.left != no_rank;
        const double before = waits ? links.wire(links.is_between(up, above.left), piece) : 0;
        return before + links.message(links.is_between(rank, up), piece);
    };
    const double depth = depth_cost(links, parent, hop);
    const auto sends = [&](bool between) {
        return [&links, &params, between](rank_t rank) {
            const tree_links tree = in_order_tree(rank, params.ranks);
            double edges = 0;
            for (const rank_t other : {tree.left, tree.right})
                if (other != no_rank && links.is_between(rank, other) == between) ++edges;
            return edges;
        };
    };
    const double out = links.busiest(sends(true));
    const double in = links.longest(sends(false));
    return depth +
           (pieces - 1) * std::max(out * links.wire(true, piece) + 2 * links.per_message(out > 0),
                                   in * links.wire(false, piece));
}

}  // namespace ucg::algo::bcast
