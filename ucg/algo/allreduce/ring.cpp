#include "ucg/algo/common/ring.hpp"
#include "ucg/algo/common/prices.hpp"

#include "ucg/algo/allreduce/allreduce.hpp"

namespace ucg::algo::allreduce {
namespace {

// Blocks of all ranks as a table of counts and places, since the first ones may be longer.
struct equal_blocks {
    std::uint64_t* counts;
    std::uint64_t* places;
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

task ring::run(member& me, const call& what) {
    const equal_blocks cuts = cut_for_all(me, what.count);
    const cut longest = ring_segments(what, cut{what.count, me.size()}.longest());
    const blocks<std::byte> results(bytes_of(what.into), what.element, cuts.counts, cuts.places);
    const ring_reduction part{{input_of(what), what.element, cuts.counts, cuts.places},
                              &results,
                              nullptr,
                              nullptr,
                              me.scratch(ring_spare(what, longest.count)),
                              longest};
    co_await ring_reduce_scatter(me, what, part);
    co_await ring_allgather(me, results);
    if (me.size() == 1) co_await me.copy(what.into, input_of(what), what.count * what.element);
}

std::size_t ring::scratch(const call& what, rank_t, rank_t size) {
    return 2 * size * sizeof(std::uint64_t) + ring_spare(what, cut{what.count, size}.longest());
}

double ring::cost(const shape& of, const link_cost& link) {
    const double block = of.bytes / of.ranks;
    // What is reduced while the next segment travels costs nothing more; of a lone one, all.
    const double pieces = std::max(block / of.segment(), 1.0);
    const double work =
        block / pieces * link.reduce_byte + (pieces - 1) * link.per_message;
    rounds all(of, link);
    all.ring(of.ranks - 1, block, work);
    all.ring(of.ranks - 1, block);
    return all.total();
}

}  // namespace ucg::algo::allreduce
