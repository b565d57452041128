#include "ucg/node/reducing.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ucg::node {

reducing::reducing(const call& what, const domains& who, const geometry& like, const tuning& by)
    : pattern(what, who),
      cut_(algo::segments_of(what.count, what.element,
                             segment_for(what.count * what.element, what.element, like, by))),
      sources_(like.ranks) {
    how_.segments = cut_.pieces;
    how_.bytes = cut_.longest() * what.element;
    if (wants_result())
        hear_all();
    else
        hear_nobody();
}

void reducing::reduce(std::uint64_t segment, const places& at, std::size_t offset,
                      std::size_t count, std::byte* into) noexcept {
    for (rank_t rank = 0; rank < ranks_; ++rank)
        sources_[rank] = at.of(rank) + offset;
    sources_[me_] = input() + begin(segment) + offset;
    what_.how->combine(into, sources_.data(), ranks_, count, true);
}

// --- directly ---

reduce_directly::reduce_directly(const call& what, const domains& who, const geometry& like,
                                 const tuning& by)
    : reducing(what, who, like, by) {}

// The only one who reduces is the one who does not need it.
void reduce_directly::give(std::uint64_t segment, const places& at) noexcept {
    if (what_.what == schedule::collective::reduce && me_ == what_.root) return;
    at.put(at.of(me_), input() + begin(segment), bytes(segment));
}

void reduce_directly::take(std::uint64_t segment, const places& at) noexcept {
    reduce(segment, at, 0, cut_.size(segment), output() + begin(segment));
}

// --- in parts ---

reduce_in_parts::reduce_in_parts(const call& what, const domains& who, const geometry& like,
                                 const tuning& by)
    : reducing(what, who, like, by), block_(std::max<std::size_t>(by.block / what.element, 1)) {
    // Whoever wants the result needs what others worked, and everyone what they gave.
    how_.works = 1;
    how_.awaits[1] = std::exchange(how_.awaits[0], who.others());
    expect(what.count * what.element, by.streamed_sum_bytes);
}

void reduce_in_parts::give(std::uint64_t segment, const places& at) noexcept {
    const std::byte* const from = input() + begin(segment);
    const auto [first, last] = part_of(segment, me_);
    std::byte* const into = at.of(me_);
    const std::size_t all = bytes(segment);
    at.put(into, from, first);
    at.put(into + last, from + last, all - last);
}

// In blocks that stay in the nearest cache, since the result goes to two places. What is written
// past the caches is copied to the slot, and not from there.
ucs_status_t reduce_in_parts::work(unsigned, std::uint64_t segment, const places& at) noexcept {
    const auto [first, last] = part_of(segment, me_);
    const std::size_t step = block_ * what_.element;
    for (std::size_t offset = first; offset < last; offset += step) {
        const std::size_t size = std::min(step, last - offset);
        std::byte* const shared = at.of(me_) + offset;
        const std::size_t count = size / what_.element;
        if (!wants_result()) {  // and has no output whose place could be named
            reduce(segment, at, offset, count, shared);
            continue;
        }
        std::byte* const wanted = output() + begin(segment) + offset;
        reduce(segment, at, offset, count, at.streams() ? wanted : shared);
        if (at.streams())
            at.put(shared, wanted, size);
        else
            deliver(wanted, shared, size);
    }
    return UCS_OK;
}

void reduce_in_parts::take(std::uint64_t segment, const places& at) noexcept {
    for (const rank_t of : who_.others()) {
        const auto [first, last] = part_of(segment, of);
        deliver(output() + begin(segment) + first, at.of(of) + first, last - first);
    }
}

}  // namespace ucg::node
