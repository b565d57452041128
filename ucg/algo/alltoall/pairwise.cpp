#include <array>

#include "ucg/algo/alltoall/alltoall.hpp"
#include "ucg/algo/common/blocks.hpp"

namespace ucg::algo::alltoall {
namespace {

constexpr unsigned at_once = 8;

// Where the blocks that go out lie: in place, in a copy that has the form of the buffer.
blocks<const std::byte> outgoing(const call& what, const std::byte* base) noexcept {
    if (what.counts == nullptr) return {base, what.element, what.count};
    if (what.in_place) return {base, what.element, what.counts, what.places};
    return {base, what.element, what.out_counts, what.out_places};
}

std::size_t extent(const call& what, rank_t size) noexcept {
    const blocks<std::byte> into = blocks_of(what, bytes_of(what.into));
    std::size_t end = 0;
    for (rank_t i = 0; i < size; ++i) {
        const auto before = static_cast<std::size_t>(into.at(i) - bytes_of(what.into));
        end = std::max(end, before + into.bytes(i));
    }
    return end;
}

}  // namespace

task pairwise::run(member& me, const call& what) {
    const rank_t size = me.size();
    const rank_t mine = me.rank();
    const blocks<std::byte> in = blocks_of(what, bytes_of(what.into));
    const std::byte* base = bytes_of(what.from);
    if (what.in_place) {
        const std::size_t bytes = extent(what, size);
        std::byte* const copied = me.scratch(bytes);
        co_await me.copy(copied, what.into, bytes);
        base = copied;
    }
    const blocks<const std::byte> out = outgoing(what, base);
    std::array<flight, at_once> moves;
    for (rank_t step = 1; step < size; ++step) {
        const rank_t to = (mine + step) % size;
        const rank_t from = (mine + size - step) % size;
        flight& free = moves[step % at_once];
        co_await free;
        free.exchange(me, to, out.at(to), out.bytes(to), from, in.at(from), in.bytes(from));
    }
    if (!what.in_place) co_await me.copy(in.at(mine), out.at(mine), in.bytes(mine));
    for (flight& each : moves)
        co_await each;
}

std::size_t pairwise::scratch(const call& what, rank_t, rank_t size) {
    return what.in_place ? extent(what, size) : 0;
}

double pairwise::cost(const shape& of, const link_cost& link) {
    const double others = of.ranks - 1;
    return link.latency + others * (link.per_message + of.bytes * link.per_byte) +
           of.bytes * link.copy_byte;
}

}  // namespace ucg::algo::alltoall
