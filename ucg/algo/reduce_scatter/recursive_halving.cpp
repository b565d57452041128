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

// Returns the number of elements in the blocks before `rank`; for rank = size: in all blocks.
std::uint64_t begin_of(const call& args, rank_t rank, rank_t size) noexcept {
    if (args.counts == nullptr) return rank * args.count;
    return rank < size ? args.offsets[rank] : args.offsets[size - 1] + args.counts[size - 1];
}

// A piece consists of the blocks of the ranks that a remaining rank acts for.
void cut_by_blocks(const folding& fold, const call& args, rank_t size,
                   std::uint64_t* begins) noexcept {
    for (rank_t i = 0; i < fold.ranks(); ++i)
        begins[i] = begin_of(args, fold.real(i), size);
    begins[fold.ranks()] = begin_of(args, size, size);
}

}  // namespace

// After halving, a rank holds the piece whose number is the rank's folded number with its bits
// reversed. The rank of that number holds the piece of this rank, so the two exchange them.
task recursive_halving::run(member& me, const call& args) {
    const std::size_t bytes = begin_of(args, me.size(), me.size()) * args.element;
    const blocks<const std::byte> input = blocks_of(args, input_of(args));
    const std::size_t own_bytes = input.bytes(me.rank());
    const folding fold(me.rank(), me.size());
    const std::byte* value = input_of(args);
    if (me.size() == 1) {
        co_await me.copy(args.into, value, bytes);
        co_return;
    }
    if (fold.sends_to_partner()) {
        co_await me.send(fold.partner(), value, bytes);
        co_await me.receive(fold.partner(), args.into, own_bytes);
        co_return;
    }
    std::byte* const result = me.scratch(bytes);
    std::byte* const spare = me.scratch(bytes);
    if (fold.acts_for_partner()) {
        co_await me.receive(fold.partner(), spare, bytes);
        co_await me.reduce(*args.op, result, value, spare, bytes / args.element, false);
        value = result;
    }
    auto* const begins = reinterpret_cast<std::uint64_t*>(me.scratch(begins_size(me.size())));
    cut_by_blocks(fold, args, me.size(), begins);
    halving_state state{fold, begins, value, result, spare};
    co_await halve(me, args, state);
    const rank_t owner = fold.real(reversed(fold.folded(), fold.ranks()));
    const rank_t piece = fold.folded();
    const std::size_t piece_bytes = (begins[piece + 1] - begins[piece]) * args.element;
    const std::byte* got = result + begins[state.first] * args.element;
    if (owner != me.rank()) {
        co_await me.exchange(owner, got, (begins[state.end] - begins[state.first]) * args.element,
                             owner, spare, piece_bytes);
        got = spare;
    }
    co_await me.copy(args.into, got, own_bytes);
    if (fold.acts_for_partner())
        co_await me.send(fold.partner(), got + own_bytes, piece_bytes - own_bytes);
}

std::size_t recursive_halving::scratch(const call& args, rank_t, rank_t size) {
    return 2 * begin_of(args, size, size) * args.element + begins_size(size);
}

double recursive_halving::cost(const shape& params, const link_cost& link) {
    const rank_t left = std::bit_floor(params.ranks);
    const double all = params.bytes * params.ranks;
    const double byte = link.per_byte + link.reduce_byte;
    const double folding_cost = left != params.ranks ? 2 * link.latency + all * byte : 0;
    return std::bit_width(left) * link.latency + folding_cost + all * (left - 1) / left * byte +
           params.bytes * (link.per_byte + link.copy_byte);
}

}  // namespace ucg::algo::reduce_scatter
