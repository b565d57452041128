#include "ucg/algo/alltoall/alltoall.hpp"
#include "ucg/algo/common/blocks.hpp"

namespace ucg::algo::alltoall {

// Block i of `all` must move i ranks further. Each round handles one bit and moves the blocks whose
// number has this bit. After all bits, block i is the block of the rank i positions before this
// one.
task bruck::run(member& me, const call& args) {
    const rank_t size = me.size();
    const rank_t self = me.rank();
    const std::size_t block = args.count * args.element;
    std::byte* const all = me.scratch(size * block);
    std::byte* const out = me.scratch((size + 1) / 2 * block);
    std::byte* const in = me.scratch((size + 1) / 2 * block);
    const std::byte* const from = input_of(args);
    co_await me.copy(all, from + self * block, (size - self) * block);
    co_await me.copy(all + (size - self) * block, from, self * block);
    for (rank_t distance = 1; distance < size; distance *= 2) {
        std::size_t packed = 0;
        for (rank_t i = distance; i < size; ++i) {
            if ((i & distance) == 0) continue;
            co_await me.copy(out + packed, all + i * block, block);
            packed += block;
        }
        co_await me.exchange((self + distance) % size, out, packed, (self + size - distance) % size,
                             in, packed);
        packed = 0;
        for (rank_t i = distance; i < size; ++i) {
            if ((i & distance) == 0) continue;
            co_await me.copy(all + i * block, in + packed, block);
            packed += block;
        }
    }
    for (rank_t i = 0; i < size; ++i)
        co_await me.copy(bytes_of(args.into) + (self + size - i) % size * block, all + i * block,
                         block);
}

std::size_t bruck::scratch(const call& args, rank_t, rank_t size) {
    return (size + 2 * ((size + 1UL) / 2)) * args.count * args.element;
}

double bruck::cost(const shape& params, const link_cost& link) {
    const double half = params.ranks / 2.0 * params.bytes;
    return doublings(params.ranks) * (link.latency + half * (link.per_byte + 2 * link.copy_byte)) +
           2 * params.ranks * params.bytes * link.copy_byte;
}

}  // namespace ucg::algo::alltoall
