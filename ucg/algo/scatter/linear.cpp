#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/scatter/scatter.hpp"

namespace ucg::algo::scatter {
namespace {

constexpr unsigned at_once = 8;

}  // namespace

task linear::run(member& me, const call& what) {
    if (me.rank() != what.root) {
        co_await me.receive(what.root, what.into, what.count * what.element);
        co_return;
    }
    const blocks<const std::byte> from = blocks_of(what, bytes_of(what.from));
    std::array<flight, at_once> sends;
    for (rank_t i = 1; i < me.size(); ++i) {
        const rank_t target = (me.rank() + i) % me.size();
        flight& free = sends[i % at_once];
        co_await free;
        free.send(me, target, from.at(target), from.bytes(target));
    }
    if (!what.in_place) co_await me.copy(what.into, from.at(what.root), from.bytes(what.root));
    for (flight& each : sends)
        co_await each;
}

std::size_t linear::scratch(const call&, rank_t, rank_t) {
    return 0;
}

double linear::cost(const shape& of, const link_cost& link) {
    const double others = of.ranks - 1;
    return link.latency + others * (link.per_message + of.bytes * link.per_byte);
}

}  // namespace ucg::algo::scatter
