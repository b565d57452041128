#include "ucg/algo/common/ring.hpp"

#include "ucg/algo/allgather/allgather.hpp"
#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo::allgather {

task ring::run(member& me, const call& args) {
    const blocks<std::byte> into = blocks_of(args, bytes_of(args.into));
    const rank_t self = me.rank();
    if (!args.in_place) co_await me.copy(into.at(self), args.from, into.bytes(self));
    co_await ring_allgather(me, into);
}

double ring::cost(const shape& params, const link_cost& link) {
    round_costs all(params, link);
    all.ring(params.ranks - 1, params.bytes);
    all.add(params.bytes * link.copy_byte);
    return all.total();
}

}  // namespace ucg::algo::allgather
