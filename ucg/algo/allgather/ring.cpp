#include "ucg/algo/common/ring.hpp"
#include "ucg/algo/common/prices.hpp"

#include "ucg/algo/allgather/allgather.hpp"

namespace ucg::algo::allgather {

task ring::run(member& me, const call& what) {
    const blocks<std::byte> into = blocks_of(what, bytes_of(what.into));
    const rank_t mine = me.rank();
    if (!what.in_place) co_await me.copy(into.at(mine), what.from, into.bytes(mine));
    co_await ring_allgather(me, into);
}

std::size_t ring::scratch(const call&, rank_t, rank_t) {
    return 0;
}

double ring::cost(const shape& of, const link_cost& link) {
    rounds all(of, link);
    all.ring(of.ranks - 1, of.bytes);
    all.add(of.bytes * link.copy_byte);
    return all.total();
}

}  // namespace ucg::algo::allgather
