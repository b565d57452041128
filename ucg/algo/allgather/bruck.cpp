#include "ucg/algo/allgather/allgather.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/prices.hpp"

namespace ucg::algo::allgather {

// Blocks are collected behind each other, in the order of ranks that begins with this one, and put
// where they belong at the end.
task bruck::run(member& me, const call& what) {
    const rank_t size = me.size();
    const blocks<std::byte> into = blocks_of(what, bytes_of(what.into));
    const auto rank_of = [&](rank_t place) { return (me.rank() + place) % size; };
    std::size_t total = 0;
    for (rank_t i = 0; i < size; ++i)
        total += into.bytes(i);
    std::byte* const all = me.scratch(total);
    const void* const mine = what.in_place ? into.at(me.rank()) : what.from;
    std::size_t have = into.bytes(me.rank());
    co_await me.copy(all, mine, have);
    for (rank_t distance = 1; distance < size; distance *= 2) {
        const rank_t blocks_now = distance < size - distance ? distance : size - distance;
        std::size_t out = 0;
        std::size_t in = 0;
        for (rank_t i = 0; i < blocks_now; ++i) {
            out += into.bytes(rank_of(i));
            in += into.bytes(rank_of(distance + i));
        }
        co_await me.exchange(rank_of(size - distance), all, out, rank_of(distance), all + have, in);
        have += in;
    }
    if (what.counts == nullptr) {
        const std::size_t behind = (size - me.rank()) * into.bytes(0);
        co_await me.copy(into.at(me.rank()), all, behind);
        co_await me.copy(what.into, all + behind, total - behind);
        co_return;
    }
    std::size_t at = 0;
    for (rank_t i = 0; i < size; ++i) {
        co_await me.copy(into.at(rank_of(i)), all + at, into.bytes(rank_of(i)));
        at += into.bytes(rank_of(i));
    }
}

std::size_t bruck::scratch(const call& what, rank_t, rank_t size) {
    const blocks<std::byte> into = blocks_of(what, bytes_of(what.into));
    std::size_t total = 0;
    for (rank_t i = 0; i < size; ++i)
        total += into.bytes(i);
    return total;
}

double bruck::cost(const shape& of, const link_cost& link) {
    rounds all(of, link);
    for (rank_t distance = 1; distance < of.ranks; distance *= 2)
        all.shift(distance, std::min(distance, of.ranks - distance) * of.bytes);
    all.add((of.ranks + 1.0) * of.bytes * link.copy_byte);
    return all.total();
}

}  // namespace ucg::algo::allgather
