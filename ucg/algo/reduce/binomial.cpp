// Both binomial trees of reduce.
#include "ucg/algo/common/binomial.hpp"

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/prices.hpp"
#include "ucg/algo/reduce/reduce.hpp"

namespace ucg::algo::reduce {
namespace {

// Reduces towards rank `top`, in the order top, top + 1, …, and hands the result to the root.
task reduce_to(member& me, const call& what, rank_t top) {
    const std::size_t bytes = what.count * what.element;
    const binomial_place at(me.rank(), me.size(), top);
    const bool is_root = me.rank() == what.root;
    std::byte* const result = at.is_root() && is_root ? bytes_of(what.into) : me.scratch(bytes);
    std::byte* const other = me.scratch(bytes);
    const std::byte* value = input_of(what);
    for (rank_t distance = 1; distance < at.reach(); distance *= 2) {
        if (!at.has_child(distance)) break;
        co_await me.receive(at.child(distance), other, bytes);
        const bool last = at.is_root() && distance * 2 >= me.size();
        co_await me.reduce(*what.how, result, value, other, what.count, last);
        value = result;
    }
    if (!at.is_root()) {
        co_await me.send(at.parent(), value, bytes);
    } else if (is_root) {
        co_await me.copy(what.into, value, bytes);
    } else {
        co_await me.send(what.root, value, bytes);
    }
    if (is_root && !at.is_root()) co_await me.receive(top, what.into, bytes);
}

double tree_cost(const shape& of, const link_cost& link) noexcept {
    rounds all(of, link);
    for (rank_t distance = 1; distance < of.ranks; distance *= 2)
        all.tree(distance, of.bytes, of.bytes * link.reduce_byte);
    return all.total();
}

}  // namespace

task binomial::run(member& me, const call& what) {
    return reduce_to(me, what, what.root);
}

std::size_t binomial::scratch(const call& what, rank_t, rank_t) {
    return 2 * what.count * what.element;
}

double binomial::cost(const shape& of, const link_cost& link) {
    return tree_cost(of, link);
}

task ordered_binomial::run(member& me, const call& what) {
    return reduce_to(me, what, 0);
}

std::size_t ordered_binomial::scratch(const call& what, rank_t, rank_t) {
    return 2 * what.count * what.element;
}

double ordered_binomial::cost(const shape& of, const link_cost& link) {
    const double to_root = of.root != 0 ? neighbourhood(of, link).message(true, of.bytes) : 0;
    return tree_cost(of, link) + to_root;
}

}  // namespace ucg::algo::reduce
