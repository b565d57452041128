#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/halving.hpp"
#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo::allreduce {

task rabenseifner::run(member& me, const call& args) {
    const std::size_t bytes = args.count * args.element;
    const folding fold(me.rank(), me.size());
    std::byte* const result = bytes_of(args.into);
    std::byte* const spare = me.scratch(bytes);
    const std::byte* value = input_of(args);
    if (fold.sends_to_partner()) {
        co_await me.send(fold.partner(), value, bytes);
        co_await me.receive(fold.partner(), result, bytes);
        co_return;
    }
    if (fold.acts_for_partner()) {
        co_await me.receive(fold.partner(), spare, bytes);
        co_await me.reduce(*args.op, result, value, spare, args.count, false);
        value = result;
    }
    auto* const begins = reinterpret_cast<std::uint64_t*>(me.scratch(begins_size(me.size())));
    cut_equally(fold, args.count, begins);
    halving_state state{fold, begins, value, result, spare};
    co_await halve(me, args, state);
    co_await double_back(me, args, state);
    if (fold.ranks() == 1) co_await me.copy(result, value, bytes);
    if (fold.acts_for_partner()) co_await me.send(fold.partner(), result, bytes);
}

std::size_t rabenseifner::scratch(const call& args, rank_t, rank_t size) {
    return args.count * args.element + begins_size(size);
}

double rabenseifner::cost(const shape& params, const link_cost& link) {
    round_costs all(params, link);
    const rank_t left = std::bit_floor(params.ranks);
    if (left != params.ranks) all.fold(params.bytes, params.bytes * link.reduce_byte);
    add_halving(all, params, link);
    add_doubling_back(all, params);
    if (left != params.ranks) all.fold(params.bytes);
    return all.total();
}

}  // namespace ucg::algo::allreduce
