#include "ucg/algo/common/binomial.hpp"

#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/scatter/scatter.hpp"

namespace ucg::algo::scatter {

// Blocks travel in the order of places, counted from the root: where that is not rank 0, it turns
// what it has into that order first.
task binomial::run(member& me, const call& what) {
    const std::size_t block = what.count * what.element;
    const binomial_place at(me.rank(), me.size(), what.root);
    const rank_t blocks = at.end() - at.place();
    const std::byte* all = bytes_of(what.from);
    if (!at.is_root()) {
        std::byte* const got = blocks == 1 ? bytes_of(what.into) : me.scratch(blocks * block);
        co_await me.receive(at.parent(), got, blocks * block);
        all = got;
    } else if (what.root != 0) {
        std::byte* const turned = me.scratch(blocks * block);
        const std::size_t before = what.root * block;
        const std::size_t behind = blocks * block - before;
        co_await me.copy(turned, all + before, behind);
        co_await me.copy(turned + behind, all, before);
        all = turned;
    }
    std::array<flight, children_at_once> sends;
    unsigned next = 0;
    for (rank_t distance = at.reach() / 2; distance != 0; distance /= 2) {
        if (!at.has_child(distance)) continue;
        flight& free = sends[next++ % children_at_once];
        co_await free;
        const rank_t theirs = at.child_end(distance) - at.place() - distance;
        free.send(me, at.child(distance), all + distance * block, theirs * block);
    }
    if (!what.in_place) co_await me.copy(what.into, all, block);
    for (flight& each : sends)
        co_await each;
}

std::size_t binomial::scratch(const call& what, rank_t rank, rank_t size) {
    const binomial_place at(rank, size, what.root);
    return what.count * what.element * (at.end() - at.place());
}

double binomial::cost(const shape& of, const link_cost& link) {
    const double others = of.ranks - 1;
    return doublings(of.ranks) * link.latency +
           others * of.bytes * (link.per_byte + link.copy_byte);
}

}  // namespace ucg::algo::scatter
