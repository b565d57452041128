#include "ucg/algo/allgather/allgather.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/ring.hpp"
#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo::allgather {

// Collects the blocks contiguously, in the order of ranks that begins with this rank, and copies
// them to their final offsets at the end.
task bruck::run(member& me, const call& args) {
    const rank_t size = me.size();
    const blocks<std::byte> into = blocks_of(args, bytes_of(args.into));
    const auto rank_of = [&](rank_t place) { return (me.rank() + place) % size; };
    std::size_t total = 0;
    for (rank_t i = 0; i < size; ++i)
        total += into.bytes(i);
    std::byte* const all = me.scratch(total);
    const void* const own_block = args.in_place ? into.at(me.rank()) : args.from;
    std::size_t have = into.bytes(me.rank());
    co_await me.copy(all, own_block, have);
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
    if (args.counts == nullptr) {
        const std::size_t behind = (size - me.rank()) * into.bytes(0);
        co_await me.copy(into.at(me.rank()), all, behind);
        co_await me.copy(args.into, all + behind, total - behind);
        co_return;
    }
    std::size_t offset = 0;
    for (rank_t i = 0; i < size; ++i) {
        co_await me.copy(into.at(rank_of(i)), all + offset, into.bytes(rank_of(i)));
        offset += into.bytes(rank_of(i));
    }
}

std::size_t bruck::scratch(const call& args, rank_t, rank_t size) {
    const blocks<std::byte> into = blocks_of(args, bytes_of(args.into));
    std::size_t total = 0;
    for (rank_t i = 0; i < size; ++i)
        total += into.bytes(i);
    return total;
}

double bruck::cost(const shape& params, const link_cost& link) {
    round_costs all(params, link);
    for (rank_t distance = 1; distance < params.ranks; distance *= 2)
        all.shift(distance, std::min(distance, params.ranks - distance) * params.bytes);
    all.add((params.ranks + 1.0) * params.bytes * link.copy_byte);
    return all.total();
}

task recursive_doubling::run(member& me, const call& args) {
    const blocks<std::byte> into = blocks_of(args, bytes_of(args.into));
    const rank_t self = me.rank();
    if (!args.in_place) co_await me.copy(into.at(self), args.from, into.bytes(self));
    for (rank_t distance = 1; distance < me.size(); distance *= 2) {
        const rank_t first = self & ~(distance - 1);
        const rank_t partner = self ^ distance;
        co_await me.exchange(partner, into.at(first), into.at(first ^ distance),
                             distance * into.bytes(0));
    }
}

double recursive_doubling::cost(const shape& params, const link_cost& link) {
    round_costs all(params, link);
    for (rank_t distance = 1; distance < params.ranks; distance *= 2)
        all.swap(distance, distance * params.bytes);
    all.add(params.bytes * link.copy_byte);
    return all.total();
}

task ring::run(member& me, const call& args) {
    const blocks<std::byte> into = blocks_of(args, bytes_of(args.into));
    const rank_t self = me.rank();
    if (!args.in_place) co_await me.copy(into.at(self), args.from, into.bytes(self));
    co_await ring_allgather(me, into);
}

double ring::cost(const shape& params, const link_cost& link) {
    round_costs all(params, link);
    all.ring(params.ranks - 1, params.bytes);
    all.add(params.bytes * link.copy_byte);
    return all.total();
}

}  // namespace ucg::algo::allgather
