#include "ucg/node/reducing.hpp"

#include <algorithm>
#include <cstring>

namespace ucg::node {

reducing::reducing(const call& what, rank_t me, const geometry& like, const tuning& by)
    : pattern(what, me, like.ranks),
      cut_(algo::segments_of(what.count, what.element,
                             std::min<std::size_t>(by.segment, like.slot_bytes))),
      sources_(like.ranks) {
    how_.segments = cut_.pieces;
    how_.bytes = cut_.longest() * what.element;
    how_.root = what.root;
    if (what.what == schedule::collective::reduce && me != what.root) how_.to = listens::to_nobody;
}

void reducing::reduce(std::uint64_t segment, const places& at, std::size_t offset,
                      std::size_t count, std::byte* into) noexcept {
    for (rank_t rank = 0; rank < ranks_; ++rank)
        sources_[rank] = at.of(rank) + offset;
    sources_[me_] = input() + begin(segment) + offset;
    what_.how->combine(into, sources_.data(), ranks_, count, true);
}

// --- directly ---

reduce_directly::reduce_directly(const call& what, rank_t me, const geometry& like,
                                 const tuning& by)
    : reducing(what, me, like, by) {}

// The only one who reduces is the one who does not need it.
void reduce_directly::give(std::uint64_t segment, const places& at) noexcept {
    if (what_.what == schedule::collective::reduce && me_ == what_.root) return;
    if (bytes(segment) != 0) std::memcpy(at.of(me_), input() + begin(segment), bytes(segment));
}

void reduce_directly::take(std::uint64_t segment, const places& at) noexcept {
    reduce(segment, at, 0, cut_.size(segment), output() + begin(segment));
}

// --- in parts ---

reduce_in_parts::reduce_in_parts(const call& what, rank_t me, const geometry& like,
                                 const tuning& by)
    : reducing(what, me, like, by),
      grain_(line % what.element == 0 ? line / what.element : 1),
      block_(std::max<std::size_t>(by.block / what.element, 1)) {
    how_.works = true;
    expect(what.count * what.element, by.streamed_sum_bytes);
}

reduce_in_parts::span reduce_in_parts::part(std::uint64_t segment, rank_t of) const noexcept {
    const std::uint64_t count = cut_.size(segment);
    const algo::cut grains{(count + grain_ - 1) / grain_, ranks_};
    const std::uint64_t first = std::min(grains.begin(of) * grain_, count);
    const std::uint64_t last = std::min(grains.begin(of + 1) * grain_, count);
    return {first * what_.element, last * what_.element};
}

void reduce_in_parts::give(std::uint64_t segment, const places& at) noexcept {
    const std::byte* const from = input() + begin(segment);
    const auto [first, last] = part(segment, me_);
    std::byte* const into = at.of(me_);
    const std::size_t all = bytes(segment);
    if (first != 0) std::memcpy(into, from, first);
    if (last != all) std::memcpy(into + last, from + last, all - last);
}

// In blocks that stay in the nearest cache, since the result goes to two places.
ucs_status_t reduce_in_parts::work(std::uint64_t segment, const places& at) noexcept {
    const auto [first, last] = part(segment, me_);
    const std::size_t step = block_ * what_.element;
    for (std::size_t offset = first; offset < last; offset += step) {
        const std::size_t size = std::min(step, last - offset);
        std::byte* const result = at.of(me_) + offset;
        reduce(segment, at, offset, size / what_.element, result);
        if (wants_result()) deliver(output() + begin(segment) + offset, result, size);
    }
    return UCS_OK;
}

void reduce_in_parts::take(std::uint64_t segment, const places& at) noexcept {
    for (rank_t step = 1; step < ranks_; ++step) {
        const rank_t of = (me_ + step) % ranks_;  // not all from the same one at a time
        const auto [first, last] = part(segment, of);
        deliver(output() + begin(segment) + first, at.of(of) + first, last - first);
    }
}

}  // namespace ucg::node
