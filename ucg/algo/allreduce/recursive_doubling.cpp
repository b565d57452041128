#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/folding.hpp"
#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo::allreduce {

task recursive_doubling::run(member& me, const call& args) {
    const std::size_t bytes = args.count * args.element;
    const folding fold(me.rank(), me.size());
    std::byte* const result = bytes_of(args.into);
    std::byte* const other = me.scratch(bytes);
    const std::byte* value = input_of(args);
    if (fold.sends_to_partner()) {
        co_await me.send(fold.partner(), value, bytes);
        co_await me.receive(fold.partner(), result, bytes);
        co_return;
    }
    if (fold.acts_for_partner()) {
        co_await me.receive(fold.partner(), other, bytes);
        co_await me.reduce(*args.op, result, value, other, args.count, false);
        value = result;
    }
    for (rank_t distance = 1; distance < fold.ranks(); distance *= 2) {
        const bool upper = (fold.folded() & distance) != 0;
        co_await me.exchange(fold.real(fold.folded() ^ distance), value, other, bytes);
        co_await me.reduce(*args.op, result, upper ? other : value, upper ? value : other,
                           args.count, distance * 2 == fold.ranks());
        value = result;
    }
    co_await me.copy(result, value, bytes);  // alone
    if (fold.acts_for_partner()) co_await me.send(fold.partner(), result, bytes);
}

std::size_t recursive_doubling::scratch(const call& args, rank_t, rank_t) {
    return args.count * args.element;
}

double recursive_doubling::cost(const shape& params, const link_cost& link) {
    const double work = params.bytes * link.reduce_byte;
    const rank_t left = std::bit_floor(params.ranks);
    round_costs all(params, link);
    if (left == params.ranks) {
        for (rank_t distance = 1; distance < left; distance *= 2)
            all.swap(distance, params.bytes, work);
        return all.total();
    }
    // A rank that acts for two starts late, and finds the messages of its partners waiting. So the
    // last rank to end is either such a rank, or a rank that receives from such a rank in every
    // round.
    round_costs late(params, link);
    all.fold(params.bytes, work);
    late.fold(params.bytes, work);
    const link_model links(params, link);
    for (rank_t distance = 1; distance < left; distance *= 2) {
        all.swap(distance, params.bytes, work);
        if (distance < params.ranks - left)
            late.swap(distance, params.bytes, work);
        else
            late.add(links.per_message(true) + links.wire(true, params.bytes) + work);
    }
    late.fold(params.bytes);
    return std::max(all.total(), late.total());
}

}  // namespace ucg::algo::allreduce
