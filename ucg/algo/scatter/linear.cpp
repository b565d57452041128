#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/scatter/scatter.hpp"

namespace ucg::algo::scatter {
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
