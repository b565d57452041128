#include <array>

#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/trees.hpp"
#include "ucg/algo/common/prices.hpp"

namespace ucg::algo::allreduce {
namespace {

// One tree and the part of the data that goes over it.
struct half {
    tree_place place;
    const std::byte* value;
    std::byte* result;
    cut segments;
    unsigned depth;
    std::byte* spare;  // two segments for each child
};

// What comes down was sent up some segments before: by the root none, and by each rank two more
// than by its parent, which needs that long to pass it up and to get it back.
task up_and_down(member me, const call& what, half of) {
    const std::size_t longest = of.segments.longest() * what.element;
    const std::uint64_t lag = std::min<std::uint64_t>(2 * of.depth, of.segments.pieces);
    const auto place = [&](std::uint64_t i) { return of.segments.begin(i) * what.element; };
    const auto bytes = [&](std::uint64_t i) { return of.segments.size(i) * what.element; };
    const auto spare = [&](std::uint64_t i, unsigned child) {
        return of.spare + (i % 2 * 2 + child) * longest;
    };
    const bool is_root = of.place.parent == no_rank;
    std::array<flight, 2> from_left, from_right, up, to_left, to_right;
    const auto listen = [&](std::uint64_t i) {
        if (of.place.left != no_rank)
            from_left[i % 2].receive(me, of.place.left, spare(i, 0), bytes(i));
        if (of.place.right != no_rank)
            from_right[i % 2].receive(me, of.place.right, spare(i, 1), bytes(i));
    };
    listen(0);
    for (std::uint64_t i = 0; i < of.segments.pieces + lag; ++i) {
        if (i < of.segments.pieces) {
            if (i + 1 < of.segments.pieces) listen(i + 1);
            const std::byte* mine = of.value + place(i);
            schedule::reduction parts{what.how, {}, 0, of.segments.size(i), is_root};
            co_await from_left[i % 2];
            co_await from_right[i % 2];
            if (of.place.left != no_rank) parts.from[parts.sources++] = spare(i, 0);
            parts.from[parts.sources++] = mine;
            if (of.place.right != no_rank) parts.from[parts.sources++] = spare(i, 1);
            if (parts.sources > 1) {
                co_await me.reduce(of.result + place(i), parts);
                mine = of.result + place(i);
            }
            co_await up[i % 2];
            if (!is_root) up[i % 2].send(me, of.place.parent, mine, bytes(i));
        }
        if (i < lag) continue;
        const std::uint64_t down = i - lag;
        co_await up[0];
        co_await up[1];
        if (!is_root) co_await me.receive(of.place.parent, of.result + place(down), bytes(down));
        co_await to_left[down % 2];
        co_await to_right[down % 2];
        if (of.place.left != no_rank)
            to_left[down % 2].send(me, of.place.left, of.result + place(down), bytes(down));
        if (of.place.right != no_rank)
            to_right[down % 2].send(me, of.place.right, of.result + place(down), bytes(down));
    }
    for (unsigned i = 0; i < 2; ++i) {
        co_await to_left[i];
        co_await to_right[i];
    }
}

cut segments_of_half(const call& what, std::uint64_t count) noexcept {
    return segments_of(count, what.element, what.sizes.segment);
}

std::size_t spare_of(const call& what) noexcept {
    return 4 * segments_of_half(what, cut{what.count, 2}.longest()).longest() * what.element;
}

}  // namespace

task double_tree::run(member& me, const call& what) {
    const cut parts{what.count, 2};
    const std::byte* const value = input_of(what);
    if (me.size() == 1) {
        co_await me.copy(what.into, value, what.count * what.element);
        co_return;
    }
    const rank_t shifted = unshifted(me.rank(), me.size());
    const std::size_t second = parts.begin(1) * what.element;
    const half first_half{in_order_tree(me.rank(), me.size()),
                          value,
                          bytes_of(what.into),
                          segments_of_half(what, parts.size(0)),
                          in_order_depth(me.rank(), me.size()),
                          me.scratch(spare_of(what))};
    const half second_half{
        shifted_tree(me.rank(), me.size()), value + second,
        bytes_of(what.into) + second,       segments_of_half(what, parts.size(1)),
        in_order_depth(shifted, me.size()), me.scratch(spare_of(what))};
    task one = up_and_down(me.on(0), what, first_half);
    task other = up_and_down(me.on(1), what, second_half);
    co_await schedule::both(one, other);
}

std::size_t double_tree::scratch(const call& what, rank_t, rank_t) {
    return 2 * spare_of(what);
}

double double_tree::cost(const shape& of, const link_cost& link) {
    const double pieces = std::max(of.bytes / 2 / of.segment(), 1.0);
    const double piece = of.bytes / 2 / pieces;
    const neighbourhood near(of, link);
    const auto parent_in_one = [&](rank_t rank) { return in_order_tree(rank, of.ranks).parent; };
    const auto parent_in_other = [&](rank_t rank) { return shifted_tree(rank, of.ranks).parent; };
    // Inside, each segment comes from two children and goes to two.
    const double work = piece * link.reduce_byte;
    const double inside = near.message(false, piece) + near.wire(false, piece) + work;
    const double between = near.message(true, piece) + near.wire(true, piece) + work;
    const double depth = std::max(depth_cost(near, parent_in_one, inside, between),
                                  depth_cost(near, parent_in_other, inside, between));
    // Both halves of a segment pass each edge up and down; a rank inside one tree is a leaf of the
    // other. Reductions are done meanwhile.
    const auto leaving = [&](rank_t rank) {
        double edges = 0;
        for (const tree_place& at :
             {in_order_tree(rank, of.ranks), shifted_tree(rank, of.ranks)})
            for (const rank_t other : {at.parent, at.left, at.right})
                if (other != no_rank && near.is_between(rank, other)) ++edges;
        return edges;
    };
    const double moving = std::max({near.busiest(leaving) * near.wire(true, piece),
                                    4 * near.wire(false, piece), 4 * near.per_message(true)});
    return 2 * depth + (pieces - 1) * std::max(moving, 2 * work);
}

}  // namespace ucg::algo::allreduce
