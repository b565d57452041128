#include "ucg/algo/common/ring.hpp"

#include "ucg/algo/reduce_scatter/reduce_scatter.hpp"

namespace ucg::algo::reduce_scatter {
namespace {

std::uint64_t longest_block(const call& what, rank_t size) noexcept {
    return what.counts == nullptr ? what.count : *std::max_element(what.counts, what.counts + size);
}

}  // namespace

task ring::run(member& me, const call& what) {
    const std::uint64_t longest = longest_block(what, me.size());
    const blocks<const std::byte> input = blocks_of(what, input_of(what));
    const std::size_t mine = input.bytes(me.rank());
    // In place it must not lie over blocks that are still needed.
    std::byte* const result = what.in_place ? me.scratch(mine) : bytes_of(what.into);
    const ring_reduction part{input,
                              nullptr,
                              result,
                              me.scratch(ring_passing(what, longest)),
                              me.scratch(ring_spare(what, longest)),
                              ring_segments(what, longest)};
    co_await ring_reduce_scatter(me, what, part);
    co_await me.copy(what.into, me.size() == 1 ? input_of(what) : result, mine);
}

std::size_t ring::scratch(const call& what, rank_t, rank_t size) {
    const std::uint64_t longest = longest_block(what, size);
    return longest * what.element + ring_passing(what, longest) + ring_spare(what, longest);
}

double ring::cost(const shape& of, const link_cost& link) {
    const double steps = of.ranks - 1;
    const double pieces = of.bytes > of.segment() ? of.bytes / of.segment() : 1;
    return steps * (link.latency + of.bytes * link.per_byte + of.bytes / pieces * link.reduce_byte +
                    (pieces - 1) * link.per_message) +
           of.bytes * link.copy_byte;
}

}  // namespace ucg::algo::reduce_scatter
