#include <array>

#include "ucg/algo/alltoall/alltoall.hpp"
#include "ucg/algo/common/blocks.hpp"

namespace ucg::algo::alltoall {
namespace {

constexpr unsigned at_once = 8;

// Returns the blocks to send. In place, they lie in a copy that has the layout of the buffer.
blocks<const std::byte> outgoing(const call& args, const std::byte* base) noexcept {
    if (args.counts == nullptr) return {base, args.element, args.count};
    if (args.in_place) return {base, args.element, args.counts, args.offsets};
    return {base, args.element, args.out_counts, args.out_offsets};
}

std::size_t extent(const call& args, rank_t size) noexcept {
    const blocks<std::byte> into = blocks_of(args, bytes_of(args.into));
    std::size_t end = 0;
    for (rank_t i = 0; i < size; ++i) {
        const auto before = static_cast<std::size_t>(into.at(i) - bytes_of(args.into));
        end = std::max(end, before + into.bytes(i));
    }
    return end;
}

}  // namespace

task pairwise::run(member& me, const call& args) {
    const rank_t size = me.size();
    const rank_t self = me.rank();
    const blocks<std::byte> in = blocks_of(args, bytes_of(args.into));
    const std::byte* base = bytes_of(args.from);
    if (args.in_place) {
        const std::size_t bytes = extent(args, size);
        std::byte* const copied = me.scratch(bytes);
        co_await me.copy(copied, args.into, bytes);
        base = copied;
    }
    const blocks<const std::byte> out = outgoing(args, base);
    std::array<flight, at_once> moves;
    for (rank_t step = 1; step < size; ++step) {
        const rank_t to = (self + step) % size;
        const rank_t from = (self + size - step) % size;
        flight& free = moves[step % at_once];
        co_await free;
        free.exchange(me, to, out.at(to), out.bytes(to), from, in.at(from), in.bytes(from));
    }
    if (!args.in_place) co_await me.copy(in.at(self), out.at(self), in.bytes(self));
    for (flight& each : moves)
        co_await each;
}

std::size_t pairwise::scratch(const call& args, rank_t, rank_t size) {
    return args.in_place ? extent(args, size) : 0;
}

double pairwise::cost(const shape& params, const link_cost& link) {
    const double others = params.ranks - 1;
    return link.latency + others * (link.per_message + params.bytes * link.per_byte) +
           params.bytes * link.copy_byte;
}

}  // namespace ucg::algo::alltoall
