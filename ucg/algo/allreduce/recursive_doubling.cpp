#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/folding.hpp"
#include "ucg/algo/common/prices.hpp"

namespace ucg::algo::allreduce {

task recursive_doubling::run(member& me, const call& what) {
    const std::size_t bytes = what.count * what.element;
    const folding fold(me.rank(), me.size());
    std::byte* const result = bytes_of(what.into);
    std::byte* const other = me.scratch(bytes);
    const std::byte* value = input_of(what);
    if (fold.gives()) {
        co_await me.send(fold.partner(), value, bytes);
        co_await me.receive(fold.partner(), result, bytes);
        co_return;
    }
    if (fold.takes()) {
        co_await me.receive(fold.partner(), other, bytes);
        co_await me.reduce(*what.how, result, value, other, what.count, false);
        value = result;
    }
    for (rank_t distance = 1; distance < fold.ranks(); distance *= 2) {
        const bool upper = (fold.folded() & distance) != 0;
        co_await me.exchange(fold.real(fold.folded() ^ distance), value, other, bytes);
        co_await me.reduce(*what.how, result, upper ? other : value, upper ? value : other,
                           what.count, distance * 2 == fold.ranks());
        value = result;
    }
    co_await me.copy(result, value, bytes);  // alone
    if (fold.takes()) co_await me.send(fold.partner(), result, bytes);
}

std::size_t recursive_doubling::scratch(const call& what, rank_t, rank_t) {
    return what.count * what.element;
}

double recursive_doubling::cost(const shape& of, const link_cost& link) {
    rounds all(of, link);
    const double work = of.bytes * link.reduce_byte;
    const rank_t left = std::bit_floor(of.ranks);
    if (left != of.ranks) all.fold(of.bytes, work);
    for (rank_t distance = 1; distance < left; distance *= 2)
        all.swap(distance, of.bytes, work);
    if (left != of.ranks) all.fold(of.bytes);
    return all.total();
}

}  // namespace ucg::algo::allreduce
