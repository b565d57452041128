#include "ucg/algo/common/ring.hpp"

#include "ucg/algo/reduce_scatter/reduce_scatter.hpp"

namespace ucg::algo::reduce_scatter {
namespace {

std::uint64_t longest_block(const call& args, rank_t size) noexcept {
    return args.counts == nullptr ? args.count : *std::max_element(args.counts, args.counts + size);
}

}  // namespace

task ring::run(member& me, const call& args) {
    const std::uint64_t longest = longest_block(args, me.size());
    const blocks<const std::byte> input = blocks_of(args, input_of(args));
    const std::size_t own_bytes = input.bytes(me.rank());
    // In place, the result must not overwrite blocks that are still needed.
    std::byte* const result = args.in_place ? me.scratch(own_bytes) : bytes_of(args.into);
    const ring_reduction part{input,
                              nullptr,
                              result,
                              me.scratch(ring_passing(args, longest)),
                              me.scratch(ring_spare(args, longest)),
                              ring_segments(args, longest)};
    co_await ring_reduce_scatter(me, args, part);
    co_await me.copy(args.into, me.size() == 1 ? input_of(args) : result, own_bytes);
}

std::size_t ring::scratch(const call& args, rank_t, rank_t size) {
    const std::uint64_t longest = longest_block(args, size);
    return longest * args.element + ring_passing(args, longest) + ring_spare(args, longest);
}

double ring::cost(const shape& params, const link_cost& link) {
    const double steps = params.ranks - 1;
    const double pieces = params.bytes > params.segment() ? params.bytes / params.segment() : 1;
    return steps * (link.latency + params.bytes * link.per_byte +
                    params.bytes / pieces * link.reduce_byte + (pieces - 1) * link.per_message) +
           params.bytes * link.copy_byte;
}

}  // namespace ucg::algo::reduce_scatter
