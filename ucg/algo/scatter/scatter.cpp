#include "ucg/algo/scatter/scatter.hpp"

#include <array>

#include "ucg/algo/common/binomial.hpp"
#include "ucg/algo/common/blocks.hpp"

namespace ucg::algo::scatter {

// Blocks are sent in the order of virtual ranks, counted from the root. A root other than rank 0
// first rotates its blocks into that order.
task binomial::run(member& me, const call& args) {
    const std::size_t block = args.count * args.element;
    const binomial_node tree(me.rank(), me.size(), args.root);
    const rank_t blocks = tree.end() - tree.virtual_rank();
    const std::byte* all = bytes_of(args.from);
    if (!tree.is_root()) {
        std::byte* const got = blocks == 1 ? bytes_of(args.into) : me.scratch(blocks * block);
        co_await me.receive(tree.parent(), got, blocks * block);
        all = got;
    } else if (args.root != 0) {
        std::byte* const turned = me.scratch(blocks * block);
        const std::size_t before = args.root * block;
        const std::size_t behind = blocks * block - before;
        co_await me.copy(turned, all + before, behind);
        co_await me.copy(turned + behind, all, before);
        all = turned;
    }
    std::array<flight, children_at_once> sends;
    unsigned next = 0;
    for (rank_t distance = tree.reach() / 2; distance != 0; distance /= 2) {
        if (!tree.has_child(distance)) continue;
        flight& free = sends[next++ % children_at_once];
        co_await free;
        const rank_t child_blocks = tree.child_end(distance) - tree.virtual_rank() - distance;
        free.send(me, tree.child(distance), all + distance * block, child_blocks * block);
    }
    if (!args.in_place) co_await me.copy(args.into, all, block);
    for (flight& each : sends)
        co_await each;
}

std::size_t binomial::scratch(const call& args, rank_t rank, rank_t size) {
    const binomial_node tree(rank, size, args.root);
    return args.count * args.element * (tree.end() - tree.virtual_rank());
}

double binomial::cost(const shape& params, const link_cost& link) {
    const double others = params.ranks - 1;
    return doublings(params.ranks) * link.latency +
           others * params.bytes * (link.per_byte + link.copy_byte);
}

namespace {

constexpr unsigned at_once = 8;

}  // namespace

task linear::run(member& me, const call& args) {
    if (me.rank() != args.root) {
        co_await me.receive(args.root, args.into, args.count * args.element);
        co_return;
    }
    const blocks<const std::byte> from = blocks_of(args, bytes_of(args.from));
    std::array<flight, at_once> sends;
    for (rank_t i = 1; i < me.size(); ++i) {
        const rank_t target = (me.rank() + i) % me.size();
        flight& free = sends[i % at_once];
        co_await free;
        free.send(me, target, from.at(target), from.bytes(target));
    }
    if (!args.in_place) co_await me.copy(args.into, from.at(args.root), from.bytes(args.root));
    for (flight& each : sends)
        co_await each;
}

double linear::cost(const shape& params, const link_cost& link) {
    const double others = params.ranks - 1;
    return link.latency + others * (link.per_message + params.bytes * link.per_byte);
}

}  // namespace ucg::algo::scatter
