#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/gather/gather.hpp"

namespace ucg::algo::gather {
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
