#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/scan/scan.hpp"

namespace ucg::algo::scan {
namespace {

// One round: the partial result goes forward, and that of an earlier rank comes.
task shift(member& me, rank_t distance, const std::byte* value, std::byte* other,
           std::size_t bytes) {
    flight in, out;
    if (me.rank() >= distance) in.receive(me, me.rank() - distance, other, bytes);
    if (distance < me.size() - me.rank()) out.send(me, me.rank() + distance, value, bytes);
    co_await in;
    co_await out;
}

}  // namespace

task doubling::run(member& me, const call& what) {
    const std::size_t bytes = what.count * what.element;
    std::byte* const result = bytes_of(what.into);
    std::byte* const other = me.scratch(bytes);
    const std::byte* value = input_of(what);
    for (rank_t distance = 1; distance < me.size(); distance *= 2) {
        co_await shift(me, distance, value, other, bytes);
        if (me.rank() < distance) continue;
        co_await me.reduce(*what.how, result, other, value, what.count, false);
        value = result;
    }
    co_await me.copy(result, value, bytes);
}

std::size_t doubling::scratch(const call& what, rank_t, rank_t) {
    return what.count * what.element;
}

double doubling::cost(const shape& of, const link_cost& link) {
    return doublings(of.ranks) * (link.latency + of.bytes * (link.per_byte + link.reduce_byte));
}

// What the ranks before this one have, of which there is none in rank 0, is in `result`; together
// with this rank's own it is in `with_mine`.
task exclusive_doubling::run(member& me, const call& what) {
    const std::size_t bytes = what.count * what.element;
    std::byte* const result = bytes_of(what.into);
    std::byte* const with_mine = me.scratch(bytes);
    std::byte* const other = me.scratch(bytes);
    const std::byte* value = input_of(what);
    for (rank_t distance = 1; distance < me.size(); distance *= 2) {
        co_await shift(me, distance, value, other, bytes);
        if (me.rank() < distance) continue;
        co_await me.reduce(*what.how, with_mine, other, value, what.count, false);
        value = with_mine;
        if (distance == 1) {
            co_await me.copy(result, other, bytes);
        } else {
            co_await me.reduce(*what.how, result, other, result, what.count, false);
        }
    }
}

std::size_t exclusive_doubling::scratch(const call& what, rank_t, rank_t) {
    return 2 * what.count * what.element;
}

double exclusive_doubling::cost(const shape& of, const link_cost& link) {
    return doublings(of.ranks) * (link.latency + of.bytes * (link.per_byte + 2 * link.reduce_byte));
}

}  // namespace ucg::algo::scan
