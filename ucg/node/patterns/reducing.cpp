#include "ucg/node/patterns/reducing.hpp"

#include <algorithm>
#include <utility>

namespace ucg::node {

reducing::reducing(const call& args, const numa_domains& domains, const geometry& layout,
                   const tuning& params, std::pmr::memory_resource* memory)
    : pattern(args, domains),
      cut_(algo::segments_of(args.count, args.element,
                             segment_for(args.count * args.element, args.element, layout, params))),
      sources_(layout.ranks, nullptr, memory) {
    plan_.segments = cut_.pieces;
    plan_.bytes = cut_.longest() * args.element;
    if (wants_result())
        await_all();
    else
        take_nothing();
}

void reducing::reduce(std::uint64_t segment, const segment_buffers& buffers, std::size_t offset,
                      std::size_t count, std::byte* into) noexcept {
    for (rank_t rank = 0; rank < ranks_; ++rank)
        sources_[rank] = buffers.data(rank) + offset;
    sources_[me_] = input() + begin(segment) + offset;
    args_.op->combine(into, sources_.data(), ranks_, count, true);
}

// --- direct ---

// In a reduce, the root reduces, and it does not need its own data in a slot.
void reduce_directly::give(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    if (args_.kind == schedule::collective::reduce && me_ == args_.root) return;
    buffers.put(buffers.data(me_), input() + begin(segment), bytes(segment));
}

void reduce_directly::take(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    reduce(segment, buffers, 0, cut_.size(segment), output() + begin(segment));
}

// --- in parts ---

reduce_in_parts::reduce_in_parts(const call& args, const numa_domains& domains,
                                 const geometry& layout, const tuning& params,
                                 std::pmr::memory_resource* memory)
    : reducing(args, domains, layout, params, memory),
      block_(std::max<std::size_t>(params.block / args.element, 1)) {
    // A rank that wants the result needs the results of the others' work; every rank needs their
    // input.
    plan_.work_stages = 1;
    plan_.awaits[1] = std::exchange(plan_.awaits[0], domains.peers());
    set_result_bytes(args.count * args.element, params.nontemporal_sum_bytes);
}

void reduce_in_parts::give(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    const std::byte* const from = input() + begin(segment);
    const auto [first, last] = part_of(segment, me_);
    std::byte* const into = buffers.data(me_);
    const std::size_t all = bytes(segment);
    buffers.put(into, from, first);
    buffers.put(into + last, from + last, all - last);
}

// Reduces in blocks that stay in the nearest cache, since the result goes to two places. If puts
// are non-temporal, the result is copied to the slot and not read from there.
ucs_status_t reduce_in_parts::work(unsigned, std::uint64_t segment,
                                   const segment_buffers& buffers) noexcept {
    const auto [first, last] = part_of(segment, me_);
    const std::size_t step = block_ * args_.element;
    for (std::size_t offset = first; offset < last; offset += step) {
        const std::size_t size = std::min(step, last - offset);
        std::byte* const shared = buffers.data(me_) + offset;
        const std::size_t count = size / args_.element;
        if (!wants_result()) {  // this rank has no output buffer
            reduce(segment, buffers, offset, count, shared);
            continue;
        }
        std::byte* const wanted = output() + begin(segment) + offset;
        reduce(segment, buffers, offset, count, buffers.is_nontemporal() ? wanted : shared);
        if (buffers.is_nontemporal())
            buffers.put(shared, wanted, size);
        else
            deliver(wanted, shared, size);
    }
    return UCS_OK;
}

void reduce_in_parts::take(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    for (const rank_t peer : domains_.peers()) {
        const auto [first, last] = part_of(segment, peer);
        deliver(output() + begin(segment) + first, buffers.data(peer) + first, last - first);
    }
}

}  // namespace ucg::node
