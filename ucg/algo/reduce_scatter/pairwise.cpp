#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/reduce_scatter/reduce_scatter.hpp"

namespace ucg::algo::reduce_scatter {

// The next exchange runs while what came is reduced. In place the result may not lie over blocks
// that are still to be sent.
task pairwise::run(member& me, const call& what) {
    const rank_t size = me.size();
    const blocks<const std::byte> input = blocks_of(what, input_of(what));
    const std::size_t bytes = input.bytes(me.rank());
    std::byte* const result = what.in_place ? me.scratch(bytes) : bytes_of(what.into);
    std::byte* const spare = me.scratch(2 * bytes);
    const std::byte* value = input.at(me.rank());
    std::array<flight, 2> moves;
    const auto begin = [&](rank_t step) {
        if (step >= size) return;
        const rank_t to = (me.rank() + step) % size;
        const rank_t from = (me.rank() + size - step) % size;
        moves[step % 2].exchange(me, to, input.at(to), input.bytes(to), from,
                                 spare + step % 2 * bytes, bytes);
    };
    begin(1);
    for (rank_t step = 1; step < size; ++step) {
        begin(step + 1);
        co_await moves[step % 2];
        co_await me.reduce(*what.how, result, value, spare + step % 2 * bytes,
                           input.count(me.rank()), step + 1 == size);
        value = result;
    }
    co_await me.copy(what.into, value, bytes);
}

std::size_t pairwise::scratch(const call& what, rank_t rank, rank_t) {
    return 3 * blocks_of(what, input_of(what)).bytes(rank);
}

double pairwise::cost(const shape& of, const link_cost& link) {
    const double steps = of.ranks - 1;
    const double move = link.per_message + of.bytes * link.per_byte;
    const double reducing = of.bytes * link.reduce_byte;
    return link.latency + steps * (move > reducing ? move : reducing) + reducing;
}

}  // namespace ucg::algo::reduce_scatter
