#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/scan/scan.hpp"

namespace ucg::algo::scan {
namespace {

// One round: sends the partial result to a later rank, and receives that of an earlier rank.
task shift(member& me, rank_t distance, const std::byte* value, std::byte* other,
           std::size_t bytes) {
    flight in, out;
    if (me.rank() >= distance) in.receive(me, me.rank() - distance, other, bytes);
    if (distance < me.size() - me.rank()) out.send(me, me.rank() + distance, value, bytes);
    co_await in;
    co_await out;
}

}  // namespace

task doubling::run(member& me, const call& args) {
    const std::size_t bytes = args.count * args.element;
    std::byte* const result = bytes_of(args.into);
    std::byte* const other = me.scratch(bytes);
    const std::byte* value = input_of(args);
    for (rank_t distance = 1; distance < me.size(); distance *= 2) {
        co_await shift(me, distance, value, other, bytes);
        if (me.rank() < distance) continue;
        co_await me.reduce(*args.op, result, other, value, args.count, false);
        value = result;
    }
    co_await me.copy(result, value, bytes);
}

std::size_t doubling::scratch(const call& args, rank_t, rank_t) {
    return args.count * args.element;
}

double doubling::cost(const shape& params, const link_cost& link) {
    return doublings(params.ranks) *
           (link.latency + params.bytes * (link.per_byte + link.reduce_byte));
}

// `result` holds the reduction over the ranks before this one; rank 0 has none. `inclusive` also
// includes this rank's own input.
task exclusive_doubling::run(member& me, const call& args) {
    const std::size_t bytes = args.count * args.element;
    std::byte* const result = bytes_of(args.into);
    std::byte* const inclusive = me.scratch(bytes);
    std::byte* const other = me.scratch(bytes);
    const std::byte* value = input_of(args);
    for (rank_t distance = 1; distance < me.size(); distance *= 2) {
        co_await shift(me, distance, value, other, bytes);
        if (me.rank() < distance) continue;
        co_await me.reduce(*args.op, inclusive, other, value, args.count, false);
        value = inclusive;
        if (distance == 1) {
            co_await me.copy(result, other, bytes);
        } else {
            co_await me.reduce(*args.op, result, other, result, args.count, false);
        }
    }
}

std::size_t exclusive_doubling::scratch(const call& args, rank_t, rank_t) {
    return 2 * args.count * args.element;
}

double exclusive_doubling::cost(const shape& params, const link_cost& link) {
    return doublings(params.ranks) *
           (link.latency + params.bytes * (link.per_byte + 2 * link.reduce_byte));
}

}  // namespace ucg::algo::scan
