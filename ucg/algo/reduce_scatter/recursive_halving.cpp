#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/halving.hpp"
#include "ucg/algo/reduce_scatter/reduce_scatter.hpp"

namespace ucg::algo::reduce_scatter {
namespace {

rank_t reversed(rank_t number, rank_t power_of_two) noexcept {
    rank_t made = 0;
    for (rank_t bit = 1; bit < power_of_two; bit *= 2)
        made = made * 2 + ((number & bit) != 0 ? 1 : 0);
    return made;
}

// Elements of all blocks before that of `rank`, and of all.
std::uint64_t begin_of(const call& what, rank_t rank, rank_t size) noexcept {
    if (what.counts == nullptr) return rank * what.count;
    return rank < size ? what.places[rank] : what.places[size - 1] + what.counts[size - 1];
}

// The pieces are the blocks of those that a remaining rank acts for.
void cut_by_blocks(const folding& fold, const call& what, rank_t size,
                   std::uint64_t* begins) noexcept {
    for (rank_t i = 0; i < fold.ranks(); ++i)
        begins[i] = begin_of(what, fold.real(i), size);
    begins[fold.ranks()] = begin_of(what, size, size);
}

}  // namespace

// Halving leaves a rank with the piece of which the number is its own with the bits reversed; that
// one has this rank's.
task recursive_halving::run(member& me, const call& what) {
    const std::size_t bytes = begin_of(what, me.size(), me.size()) * what.element;
    const blocks<const std::byte> input = blocks_of(what, input_of(what));
    const std::size_t mine = input.bytes(me.rank());
    const folding fold(me.rank(), me.size());
    const std::byte* value = input_of(what);
    if (me.size() == 1) {
        co_await me.copy(what.into, value, bytes);
        co_return;
    }
    if (fold.gives()) {
        co_await me.send(fold.partner(), value, bytes);
        co_await me.receive(fold.partner(), what.into, mine);
        co_return;
    }
    std::byte* const result = me.scratch(bytes);
    std::byte* const spare = me.scratch(bytes);
    if (fold.takes()) {
        co_await me.receive(fold.partner(), spare, bytes);
        co_await me.reduce(*what.how, result, value, spare, bytes / what.element, false);
        value = result;
    }
    auto* const begins = reinterpret_cast<std::uint64_t*>(me.scratch(begins_size(me.size())));
    cut_by_blocks(fold, what, me.size(), begins);
    halves of{fold, begins, value, result, spare};
    co_await halve(me, what, of);
    const rank_t owner = fold.real(reversed(fold.folded(), fold.ranks()));
    const rank_t piece = fold.folded();
    const std::size_t piece_bytes = (begins[piece + 1] - begins[piece]) * what.element;
    const std::byte* got = result + begins[of.first] * what.element;
    if (owner != me.rank()) {
        co_await me.exchange(owner, got, (begins[of.end] - begins[of.first]) * what.element, owner,
                             spare, piece_bytes);
        got = spare;
    }
    co_await me.copy(what.into, got, mine);
    if (fold.takes()) co_await me.send(fold.partner(), got + mine, piece_bytes - mine);
}

std::size_t recursive_halving::scratch(const call& what, rank_t, rank_t size) {
    return 2 * begin_of(what, size, size) * what.element + begins_size(size);
}

double recursive_halving::cost(const shape& of, const link_cost& link) {
    const rank_t left = std::bit_floor(of.ranks);
    const double all = of.bytes * of.ranks;
    const double byte = link.per_byte + link.reduce_byte;
    const double folding_cost = left != of.ranks ? 2 * link.latency + all * byte : 0;
    return std::bit_width(left) * link.latency + folding_cost + all * (left - 1) / left * byte +
           of.bytes * (link.per_byte + link.copy_byte);
}

}  // namespace ucg::algo::reduce_scatter
