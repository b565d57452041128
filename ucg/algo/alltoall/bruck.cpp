#include "ucg/algo/alltoall/alltoall.hpp"
#include "ucg/algo/common/blocks.hpp"

namespace ucg::algo::alltoall {

// Block i of `all` has to go i ranks further. Each round moves those whose number has one certain
// bit; when all bits had their turn, block i is the one that came from i ranks before.
task bruck::run(member& me, const call& what) {
    const rank_t size = me.size();
    const rank_t mine = me.rank();
    const std::size_t block = what.count * what.element;
    std::byte* const all = me.scratch(size * block);
    std::byte* const out = me.scratch((size + 1) / 2 * block);
    std::byte* const in = me.scratch((size + 1) / 2 * block);
    const std::byte* const from = input_of(what);
    co_await me.copy(all, from + mine * block, (size - mine) * block);
    co_await me.copy(all + (size - mine) * block, from, mine * block);
    for (rank_t distance = 1; distance < size; distance *= 2) {
        std::size_t packed = 0;
        for (rank_t i = distance; i < size; ++i) {
            if ((i & distance) == 0) continue;
            co_await me.copy(out + packed, all + i * block, block);
            packed += block;
        }
        co_await me.exchange((mine + distance) % size, out, packed, (mine + size - distance) % size,
                             in, packed);
        packed = 0;
        for (rank_t i = distance; i < size; ++i) {
            if ((i & distance) == 0) continue;
            co_await me.copy(all + i * block, in + packed, block);
            packed += block;
        }
    }
    for (rank_t i = 0; i < size; ++i)
        co_await me.copy(bytes_of(what.into) + (mine + size - i) % size * block, all + i * block,
                         block);
}

std::size_t bruck::scratch(const call& what, rank_t, rank_t size) {
    return (size + 2 * ((size + 1UL) / 2)) * what.count * what.element;
}

double bruck::cost(const shape& of, const link_cost& link) {
    const double half = of.ranks / 2.0 * of.bytes;
    return doublings(of.ranks) * (link.latency + half * (link.per_byte + 2 * link.copy_byte)) +
           2 * of.ranks * of.bytes * link.copy_byte;
}

}  // namespace ucg::algo::alltoall
