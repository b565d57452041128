#include "ucg/algo/common/ring.hpp"

#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo::allreduce {
namespace {

// The blocks of all ranks as tables of counts and offsets, because the first blocks may be longer.
struct equal_blocks {
    std::uint64_t* counts;
    std::uint64_t* offsets;
};

equal_blocks cut_for_all(member& me, std::uint64_t count) noexcept {
    const rank_t size = me.size();
    auto* const table =
        reinterpret_cast<std::uint64_t*>(me.scratch(2 * size * sizeof(std::uint64_t)));
    const cut pieces{count, size};
    for (rank_t i = 0; i < size; ++i) {
        table[i] = pieces.size(i);
        table[size + i] = pieces.begin(i);
    }
    return {table, table + size};
}

}  // namespace

task ring::run(member& me, const call& args) {
    const equal_blocks cuts = cut_for_all(me, args.count);
    const cut longest = ring_segments(args, cut{args.count, me.size()}.longest());
    const blocks<std::byte> results(bytes_of(args.into), args.element, cuts.counts, cuts.offsets);
    const ring_reduction part{{input_of(args), args.element, cuts.counts, cuts.offsets},
                              &results,
                              nullptr,
                              nullptr,
                              me.scratch(ring_spare(args, longest.count)),
                              longest};
    co_await ring_reduce_scatter(me, args, part);
    co_await ring_allgather(me, results);
    if (me.size() == 1) co_await me.copy(args.into, input_of(args), args.count * args.element);
}

std::size_t ring::scratch(const call& args, rank_t, rank_t size) {
    return 2 * size * sizeof(std::uint64_t) + ring_spare(args, cut{args.count, size}.longest());
}

double ring::cost(const shape& params, const link_cost& link) {
    const double block = params.bytes / params.ranks;
    // Reductions that overlap with the next segment cost no extra time. A block of one segment has
    // no overlap.
    const double pieces = std::max(block / params.segment(), 1.0);
    const double work = block / pieces * link.reduce_byte + (pieces - 1) * link.per_message;
    round_costs all(params, link);
    all.ring(2 * (params.ranks - 1), block, work / 2);
    return all.total();
}

}  // namespace ucg::algo::allreduce
