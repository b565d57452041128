#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/halving.hpp"
#include "ucg/algo/common/round_costs.hpp"
#include "ucg/algo/reduce/reduce.hpp"

namespace ucg::algo::reduce {
namespace {

// Returns the rank that acts for the root: the root itself, or the partner of a folded root.
rank_t acting(rank_t root, rank_t size) noexcept {
    const folding fold(root, size);
    return fold.sends_to_partner() ? fold.partner() : root;
}

}  // namespace

task rabenseifner::run(member& me, const call& args) {
    const std::size_t bytes = args.count * args.element;
    const folding fold(me.rank(), me.size());
    const rank_t target = acting(args.root, me.size());
    const bool is_root = me.rank() == args.root;
    const std::byte* value = input_of(args);
    if (fold.sends_to_partner()) {
        co_await me.send(fold.partner(), value, bytes);
        if (is_root) co_await me.receive(fold.partner(), args.into, bytes);
        co_return;
    }
    std::byte* const result = is_root ? bytes_of(args.into) : me.scratch(bytes);
    std::byte* const spare = me.scratch(bytes);
    if (fold.acts_for_partner()) {
        co_await me.receive(fold.partner(), spare, bytes);
        co_await me.reduce(*args.op, result, value, spare, args.count, false);
        value = result;
    }
    auto* const begins = reinterpret_cast<std::uint64_t*>(me.scratch(begins_size(me.size())));
    cut_equally(fold, args.count, begins);
    halving_state state{fold, begins, value, result, spare};
    co_await halve(me, args, state);
    co_await gather_back(me, args, state, folding(target, me.size()).folded());
    if (me.size() == 1) co_await me.copy(result, value, bytes);
    if (me.rank() == target && !is_root) co_await me.send(args.root, result, bytes);
}

std::size_t rabenseifner::scratch(const call& args, rank_t, rank_t size) {
    return 2 * args.count * args.element + begins_size(size);
}

double rabenseifner::cost(const shape& params, const link_cost& link) {
    round_costs all(params, link);
    if (!std::has_single_bit(params.ranks)) all.fold(params.bytes, params.bytes * link.reduce_byte);
    add_halving(all, params, link);
    add_doubling_back(all, params);
    return all.total();
}

}  // namespace ucg::algo::reduce
