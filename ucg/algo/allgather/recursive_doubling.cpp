#include "ucg/algo/allgather/allgather.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo::allgather {

task recursive_doubling::run(member& me, const call& args) {
    const blocks<std::byte> into = blocks_of(args, bytes_of(args.into));
    const rank_t self = me.rank();
    if (!args.in_place) co_await me.copy(into.at(self), args.from, into.bytes(self));
    for (rank_t distance = 1; distance < me.size(); distance *= 2) {
        const rank_t first = self & ~(distance - 1);
        const rank_t partner = self ^ distance;
        co_await me.exchange(partner, into.at(first), into.at(first ^ distance),
                             distance * into.bytes(0));
    }
}

double recursive_doubling::cost(const shape& params, const link_cost& link) {
    round_costs all(params, link);
    for (rank_t distance = 1; distance < params.ranks; distance *= 2)
        all.swap(distance, distance * params.bytes);
    all.add(params.bytes * link.copy_byte);
    return all.total();
}

}  // namespace ucg::algo::allgather
