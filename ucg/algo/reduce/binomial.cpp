// The two binomial trees of reduce: towards the root, and in the order of ranks towards rank 0.
#include "ucg/algo/common/binomial.hpp"

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/round_costs.hpp"
#include "ucg/algo/reduce/reduce.hpp"

namespace ucg::algo::reduce {
namespace {

// Reduces towards rank `top`, in the order top, top + 1, … Rank `top` then sends the result to the
// root.
task reduce_to(member& me, const call& args, rank_t top) {
    const std::size_t bytes = args.count * args.element;
    const binomial_node tree(me.rank(), me.size(), top);
    const bool is_root = me.rank() == args.root;
    std::byte* const result = tree.is_root() && is_root ? bytes_of(args.into) : me.scratch(bytes);
    std::byte* const other = me.scratch(bytes);
    const std::byte* value = input_of(args);
    for (rank_t distance = 1; distance < tree.reach(); distance *= 2) {
        if (!tree.has_child(distance)) break;
        co_await me.receive(tree.child(distance), other, bytes);
        const bool last = tree.is_root() && distance * 2 >= me.size();
        co_await me.reduce(*args.op, result, value, other, args.count, last);
        value = result;
    }
    if (!tree.is_root()) {
        co_await me.send(tree.parent(), value, bytes);
    } else if (is_root) {
        co_await me.copy(args.into, value, bytes);
    } else {
        co_await me.send(args.root, value, bytes);
    }
    if (is_root && !tree.is_root()) co_await me.receive(top, args.into, bytes);
}

double tree_cost(const shape& params, const link_cost& link) noexcept {
    return binomial_cost(
        params, link, [&](rank_t) { return params.bytes; }, link.reduce_byte);
}

}  // namespace

task binomial::run(member& me, const call& args) {
    return reduce_to(me, args, args.root);
}

std::size_t binomial::scratch(const call& args, rank_t, rank_t) {
    return 2 * args.count * args.element;
}

double binomial::cost(const shape& params, const link_cost& link) {
    return tree_cost(params, link);
}

task ordered_binomial::run(member& me, const call& args) {
    return reduce_to(me, args, 0);
}

std::size_t ordered_binomial::scratch(const call& args, rank_t, rank_t) {
    return 2 * args.count * args.element;
}

double ordered_binomial::cost(const shape& params, const link_cost& link) {
    const double to_root =
        params.root != 0 ? link_model(params, link).message(true, params.bytes) : 0;
    return tree_cost(params, link) + to_root;
}

}  // namespace ucg::algo::reduce
