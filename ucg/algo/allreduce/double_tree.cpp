#include <array>

#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/round_costs.hpp"
#include "ucg/algo/common/trees.hpp"

namespace ucg::algo::allreduce {
namespace {

// One of the two trees, and the half of the data that it carries.
struct half {
    tree_links place;
    const std::byte* value;
    std::byte* result;
    cut segments;
    unsigned depth;
    std::byte* spare;  // two segments for each child
};

// The segment that comes down was sent up `lag` segments before. The lag of the root is 0, and the
// lag of each other rank is 2 more than that of its parent, which needs that long to pass the
// segment up and to get the result back.
task up_and_down(member me, const call& args, half tree) {
    const std::size_t longest = tree.segments.longest() * args.element;
    const std::uint64_t lag = std::min<std::uint64_t>(2 * tree.depth, tree.segments.pieces);
    const auto place = [&](std::uint64_t i) { return tree.segments.begin(i) * args.element; };
    const auto bytes = [&](std::uint64_t i) { return tree.segments.size(i) * args.element; };
    const auto spare = [&](std::uint64_t i, unsigned child) {
        return tree.spare + (i % 2 * 2 + child) * longest;
    };
    const bool is_root = tree.place.parent == no_rank;
    std::array<flight, 2> from_left, from_right, up, to_left, to_right;
    const auto post_receives = [&](std::uint64_t i) {
        if (tree.place.left != no_rank)
            from_left[i % 2].receive(me, tree.place.left, spare(i, 0), bytes(i));
        if (tree.place.right != no_rank)
            from_right[i % 2].receive(me, tree.place.right, spare(i, 1), bytes(i));
    };
    post_receives(0);
    for (std::uint64_t i = 0; i < tree.segments.pieces + lag; ++i) {
        if (i < tree.segments.pieces) {
            if (i + 1 < tree.segments.pieces) post_receives(i + 1);
            const std::byte* own_segment = tree.value + place(i);
            schedule::reduction parts{args.op, {}, 0, tree.segments.size(i), is_root};
            co_await from_left[i % 2];
            co_await from_right[i % 2];
            if (tree.place.left != no_rank) parts.from[parts.sources++] = spare(i, 0);
            parts.from[parts.sources++] = own_segment;
            if (tree.place.right != no_rank) parts.from[parts.sources++] = spare(i, 1);
            if (parts.sources > 1) {
                co_await me.reduce(tree.result + place(i), parts);
                own_segment = tree.result + place(i);
            }
            co_await up[i % 2];
            if (!is_root) up[i % 2].send(me, tree.place.parent, own_segment, bytes(i));
        }
        if (i < lag) continue;
        const std::uint64_t down = i - lag;
        co_await up[0];
        co_await up[1];
        if (!is_root)
            co_await me.receive(tree.place.parent, tree.result + place(down), bytes(down));
        co_await to_left[down % 2];
        co_await to_right[down % 2];
        if (tree.place.left != no_rank)
            to_left[down % 2].send(me, tree.place.left, tree.result + place(down), bytes(down));
        if (tree.place.right != no_rank)
            to_right[down % 2].send(me, tree.place.right, tree.result + place(down), bytes(down));
    }
    for (unsigned i = 0; i < 2; ++i) {
        co_await to_left[i];
        co_await to_right[i];
    }
}

cut segments_of_half(const call& args, std::uint64_t count) noexcept {
    return segments_of(count, args.element, args.sizes.segment);
}

std::size_t spare_of(const call& args) noexcept {
    return 4 * segments_of_half(args, cut{args.count, 2}.longest()).longest() * args.element;
}

}  // namespace

task double_tree::run(member& me, const call& args) {
    const cut parts{args.count, 2};
    const std::byte* const value = input_of(args);
    if (me.size() == 1) {
        co_await me.copy(args.into, value, args.count * args.element);
        co_return;
    }
    const rank_t shifted = unshifted(me.rank(), me.size());
    const std::size_t second = parts.begin(1) * args.element;
    const half first_half{in_order_tree(me.rank(), me.size()),
                          value,
                          bytes_of(args.into),
                          segments_of_half(args, parts.size(0)),
                          in_order_depth(me.rank(), me.size()),
                          me.scratch(spare_of(args))};
    const half second_half{
        shifted_tree(me.rank(), me.size()), value + second,
        bytes_of(args.into) + second,       segments_of_half(args, parts.size(1)),
        in_order_depth(shifted, me.size()), me.scratch(spare_of(args))};
    task one = up_and_down(me.on_channel(0), args, first_half);
    task other = up_and_down(me.on_channel(1), args, second_half);
    co_await schedule::both(one, other);
}

std::size_t double_tree::scratch(const call& args, rank_t, rank_t) {
    return 2 * spare_of(args);
}

double double_tree::cost(const shape& params, const link_cost& link) {
    if (params.ranks == 1) return 0;
    const double pieces = std::max(params.bytes / 2 / params.segment(), 1.0);
    const double piece = params.bytes / 2 / pieces;
    const double work = piece * link.reduce_byte;
    const link_model links(params, link);
    const auto depth = [&](auto place) {
        const auto parent = [&](rank_t rank) { return place(rank).parent; };
        // The messages of two children are processed one after the other.
        const auto hop = [&](rank_t rank, rank_t up) {
            const tree_links above = place(up);
            const bool waits = above.left != no_rank && above.right != no_rank;
            const bool between = links.is_between(rank, up);
            return links.message(between, piece) + (waits ? links.wire(between, piece) + work : 0);
        };
        return depth_cost(links, parent, hop);
    };
    const auto one = [&](rank_t rank) { return in_order_tree(rank, params.ranks); };
    const auto other = [&](rank_t rank) { return shifted_tree(rank, params.ranks); };
    // Both halves of a segment pass each edge up and down. An inner rank of one tree is a leaf of
    // the other tree. Reductions overlap with messages.
    const auto edges = [&](bool between) {
        return [&, between](rank_t rank) {
            double found = 0;
            for (const tree_links& tree : {one(rank), other(rank)})
                for (const rank_t next : {tree.parent, tree.left, tree.right})
                    if (next != no_rank && links.is_between(rank, next) == between) ++found;
            return found;
        };
    };
    const double moving = std::max({links.busiest(edges(true)) * links.wire(true, piece),
                                    links.longest(edges(false)) * links.wire(false, piece),
                                    4 * links.per_message(true)});
    return 2 * std::max(depth(one), depth(other)) + work +
           (pieces - 1) * std::max(moving, 2 * work);
}

}  // namespace ucg::algo::allreduce
