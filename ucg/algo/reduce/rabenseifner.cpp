#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/halving.hpp"
#include "ucg/algo/common/prices.hpp"
#include "ucg/algo/reduce/reduce.hpp"

namespace ucg::algo::reduce {
namespace {

// Who acts for the root: itself, or the one that it gives its part to.
rank_t acting(rank_t root, rank_t size) noexcept {
    const folding fold(root, size);
    return fold.gives() ? fold.partner() : root;
}

}  // namespace

task rabenseifner::run(member& me, const call& what) {
    const std::size_t bytes = what.count * what.element;
    const folding fold(me.rank(), me.size());
    const rank_t target = acting(what.root, me.size());
    const bool is_root = me.rank() == what.root;
    const std::byte* value = input_of(what);
    if (fold.gives()) {
        co_await me.send(fold.partner(), value, bytes);
        if (is_root) co_await me.receive(fold.partner(), what.into, bytes);
        co_return;
    }
    std::byte* const result = is_root ? bytes_of(what.into) : me.scratch(bytes);
    std::byte* const spare = me.scratch(bytes);
    if (fold.takes()) {
        co_await me.receive(fold.partner(), spare, bytes);
        co_await me.reduce(*what.how, result, value, spare, what.count, false);
        value = result;
    }
    auto* const begins = reinterpret_cast<std::uint64_t*>(me.scratch(begins_size(me.size())));
    cut_equally(fold, what.count, begins);
    halves of{fold, begins, value, result, spare};
    co_await halve(me, what, of);
    co_await gather_back(me, what, of, folding(target, me.size()).folded());
    if (me.size() == 1) co_await me.copy(result, value, bytes);
    if (me.rank() == target && !is_root) co_await me.send(what.root, result, bytes);
}

std::size_t rabenseifner::scratch(const call& what, rank_t, rank_t size) {
    return 2 * what.count * what.element + begins_size(size);
}

double rabenseifner::cost(const shape& of, const link_cost& link) {
    rounds all(of, link);
    if (!std::has_single_bit(of.ranks)) all.fold(of.bytes, of.bytes * link.reduce_byte);
    add_halving(all, of, link);
    add_doubling_back(all, of);
    return all.total();
}

}  // namespace ucg::algo::reduce
