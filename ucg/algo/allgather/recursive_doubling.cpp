#include "ucg/algo/allgather/allgather.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/prices.hpp"

namespace ucg::algo::allgather {

task recursive_doubling::run(member& me, const call& what) {
    const blocks<std::byte> into = blocks_of(what, bytes_of(what.into));
    const rank_t mine = me.rank();
    if (!what.in_place) co_await me.copy(into.at(mine), what.from, into.bytes(mine));
    for (rank_t distance = 1; distance < me.size(); distance *= 2) {
        const rank_t first = mine & ~(distance - 1);
        const rank_t partner = mine ^ distance;
        co_await me.exchange(partner, into.at(first), into.at(first ^ distance),
                             distance * into.bytes(0));
    }
}

std::size_t recursive_doubling::scratch(const call&, rank_t, rank_t) {
    return 0;
}

double recursive_doubling::cost(const shape& of, const link_cost& link) {
    rounds all(of, link);
    for (rank_t distance = 1; distance < of.ranks; distance *= 2)
        all.swap(distance, distance * of.bytes);
    all.add(of.bytes * link.copy_byte);
    return all.total();
}

}  // namespace ucg::algo::allgather
