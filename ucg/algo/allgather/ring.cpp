#include "ucg/algo/common/ring.hpp"

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
    const double others = of.ranks - 1;
    return others * (link.latency + of.bytes * link.per_byte) + of.bytes * link.copy_byte;
}

}  // namespace ucg::algo::allgather
