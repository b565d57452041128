#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/halving.hpp"
#include "ucg/algo/common/prices.hpp"

namespace ucg::algo::allreduce {

task rabenseifner::run(member& me, const call& what) {
    const std::size_t bytes = what.count * what.element;
    const folding fold(me.rank(), me.size());
    std::byte* const result = bytes_of(what.into);
    std::byte* const spare = me.scratch(bytes);
    const std::byte* value = input_of(what);
    if (fold.gives()) {
        co_await me.send(fold.partner(), value, bytes);
        co_await me.receive(fold.partner(), result, bytes);
        co_return;
    }
    if (fold.takes()) {
        co_await me.receive(fold.partner(), spare, bytes);
        co_await me.reduce(*what.how, result, value, spare, what.count, false);
        value = result;
    }
    auto* const begins = reinterpret_cast<std::uint64_t*>(me.scratch(begins_size(me.size())));
    cut_equally(fold, what.count, begins);
    halves of{fold, begins, value, result, spare};
    co_await halve(me, what, of);
    co_await double_back(me, what, of);
    if (fold.ranks() == 1) co_await me.copy(result, value, bytes);
    if (fold.takes()) co_await me.send(fold.partner(), result, bytes);
}

std::size_t rabenseifner::scratch(const call& what, rank_t, rank_t size) {
    return what.count * what.element + begins_size(size);
}

double rabenseifner::cost(const shape& of, const link_cost& link) {
    rounds all(of, link);
    const rank_t left = std::bit_floor(of.ranks);
    if (left != of.ranks) all.fold(of.bytes, of.bytes * link.reduce_byte);
    add_halving(all, of, link);
    add_doubling_back(all, of);
    if (left != of.ranks) all.fold(of.bytes);
    return all.total();
}

}  // namespace ucg::algo::allreduce
