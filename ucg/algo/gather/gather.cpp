#include "ucg/algo/gather/gather.hpp"

#include <array>

#include "ucg/algo/common/binomial.hpp"
#include "ucg/algo/common/blocks.hpp"

namespace ucg::algo::gather {

// The blocks of a subtree are in the order of virtual ranks, counted from the root. At the root
// this is the order of ranks, rotated by the root's rank.
task binomial::run(member& me, const call& args) {
    const std::size_t block = args.count * args.element;
    const binomial_node tree(me.rank(), me.size(), args.root);
    const bool direct = tree.is_root() && args.root == 0;
    std::byte* const all =
        direct ? bytes_of(args.into) : me.scratch(block * (tree.end() - tree.virtual_rank()));
    const std::byte* const own_block =
        args.in_place ? bytes_of(args.into) + me.rank() * block : bytes_of(args.from);
    std::array<flight, children_at_once> receives;
    unsigned next = 0;
    for (rank_t distance = 1; distance < tree.reach() && tree.has_child(distance); distance *= 2) {
        flight& free = receives[next++ % children_at_once];
        co_await free;
        const rank_t blocks = tree.child_end(distance) - tree.virtual_rank() - distance;
        free.receive(me, tree.child(distance), all + distance * block, blocks * block);
    }
    co_await me.copy(all, own_block, block);
    for (flight& each : receives)
        co_await each;
    if (!tree.is_root()) {
        co_await me.send(tree.parent(), all, block * (tree.end() - tree.virtual_rank()));
    } else if (!direct) {
        const std::size_t before = args.root * block;
        const std::size_t behind = (me.size() - args.root) * block;
        co_await me.copy(bytes_of(args.into) + before, all, behind);
        co_await me.copy(args.into, all + behind, before);
    }
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
        co_await me.send(args.root, args.from, args.count * args.element);
        co_return;
    }
    const blocks<std::byte> into = blocks_of(args, bytes_of(args.into));
    std::array<flight, at_once> receives;
    for (rank_t i = 1; i < me.size(); ++i) {
        const rank_t source = (me.rank() + i) % me.size();
        flight& free = receives[i % at_once];
        co_await free;
        free.receive(me, source, into.at(source), into.bytes(source));
    }
    if (!args.in_place) co_await me.copy(into.at(args.root), args.from, into.bytes(args.root));
    for (flight& each : receives)
        co_await each;
}

double linear::cost(const shape& params, const link_cost& link) {
    const double others = params.ranks - 1;
    return link.latency + others * (link.per_message + params.bytes * link.per_byte);
}

}  // namespace ucg::algo::gather
