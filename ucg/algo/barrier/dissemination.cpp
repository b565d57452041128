#include "ucg/algo/barrier/barrier.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo::barrier {

task dissemination::run(member& me, const call&) {
    const rank_t size = me.size();
    for (rank_t distance = 1; distance < size; distance *= 2) {
        const rank_t to = (me.rank() + distance) % size;
        const rank_t from = (me.rank() + size - distance) % size;
        co_await me.exchange(to, nullptr, 0, from, nullptr, 0);
    }
}

double dissemination::cost(const shape& params, const link_cost& link) {
    round_costs all(params, link);
    for (rank_t distance = 1; distance < params.ranks; distance *= 2)
        all.shift(distance, 0);
    return all.total();
}

}  // namespace ucg::algo::barrier
