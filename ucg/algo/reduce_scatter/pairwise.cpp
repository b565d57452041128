#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/reduce_scatter/reduce_scatter.hpp"

namespace ucg::algo::reduce_scatter {

// The next exchange runs while the received block is reduced. In place, the result must not
// overwrite blocks that are still to be sent.
task pairwise::run(member& me, const call& args) {
    const rank_t size = me.size();
    const blocks<const std::byte> input = blocks_of(args, input_of(args));
    const std::size_t bytes = input.bytes(me.rank());
    std::byte* const result = args.in_place ? me.scratch(bytes) : bytes_of(args.into);
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
        co_await me.reduce(*args.op, result, value, spare + step % 2 * bytes,
                           input.count(me.rank()), step + 1 == size);
        value = result;
    }
    co_await me.copy(args.into, value, bytes);
}

std::size_t pairwise::scratch(const call& args, rank_t rank, rank_t) {
    return 3 * blocks_of(args, input_of(args)).bytes(rank);
}

double pairwise::cost(const shape& params, const link_cost& link) {
    const double steps = params.ranks - 1;
    const double move = link.per_message + params.bytes * link.per_byte;
    const double reducing = params.bytes * link.reduce_byte;
    return link.latency + steps * (move > reducing ? move : reducing) + reducing;
}

}  // namespace ucg::algo::reduce_scatter
