#include "ucg/algo/common/binomial.hpp"

#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/gather/gather.hpp"

namespace ucg::algo::gather {

// What a subtree collects lies in the order of places, counted from the root: at the root that is
// the order of ranks, turned by its rank.
task binomial::run(member& me, const call& what) {
    const std::size_t block = what.count * what.element;
    const binomial_place at(me.rank(), me.size(), what.root);
    const bool direct = at.is_root() && what.root == 0;
    std::byte* const all =
        direct ? bytes_of(what.into) : me.scratch(block * (at.end() - at.place()));
    const std::byte* const mine =
        what.in_place ? bytes_of(what.into) + me.rank() * block : bytes_of(what.from);
    std::array<flight, children_at_once> receives;
    unsigned next = 0;
    for (rank_t distance = 1; distance < at.reach() && at.has_child(distance); distance *= 2) {
        flight& free = receives[next++ % children_at_once];
        co_await free;
        const rank_t blocks = at.child_end(distance) - at.place() - distance;
        free.receive(me, at.child(distance), all + distance * block, blocks * block);
    }
    co_await me.copy(all, mine, block);
    for (flight& each : receives)
        co_await each;
    if (!at.is_root()) {
        co_await me.send(at.parent(), all, block * (at.end() - at.place()));
    } else if (!direct) {
        const std::size_t before = what.root * block;
        const std::size_t behind = (me.size() - what.root) * block;
        co_await me.copy(bytes_of(what.into) + before, all, behind);
        co_await me.copy(what.into, all + behind, before);
    }
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

}  // namespace ucg::algo::gather
