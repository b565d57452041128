#include "ucg/node/moving.hpp"

namespace ucg::node {
namespace {

algo::cut cut_of(std::uint64_t count, std::size_t element, const geometry& like,
                 const tuning& by) noexcept {
    return algo::segments_of(count, element, segment_for(count * element, element, like, by));
}

}  // namespace

broadcast::broadcast(const call& what, const domains& who, const geometry& like,
                     const tuning& by) noexcept
    : pattern(what, who), cut_(cut_of(what.count, what.element, like, by)) {
    how_.segments = cut_.pieces;
    how_.bytes = cut_.longest() * what.element;
    if (me_ == what.root)
        hear_nobody();
    else
        how_.awaits[0] = root();
    expect(what.count * what.element, by.streamed_bytes);
}

void broadcast::give(std::uint64_t segment, const places& at) noexcept {
    if (me_ != what_.root) return;
    at.put(at.of(me_), output() + cut_.begin(segment) * what_.element,
           cut_.size(segment) * what_.element);
}

void broadcast::take(std::uint64_t segment, const places& at) noexcept {
    deliver(output() + cut_.begin(segment) * what_.element, at.of(what_.root),
            cut_.size(segment) * what_.element);
}

collect::collect(const call& what, const domains& who, const geometry& like, const tuning& by)
    : pattern(what, who) {
    const algo::cut longest = cut_of(longest_block(what, ranks_), what.element, like, by);
    blocks_ = portions_of(what, ranks_, longest.pieces);
    how_.segments = longest.pieces;
    how_.bytes = longest.longest() * what.element;
    if (what.what == schedule::collective::gather && me_ != what.root)
        hear_nobody();
    else
        hear_all();
    std::uint64_t all = 0;
    for (const portion& each : blocks_)
        all += each.begin(how_.segments);
    expect(all * what.element, by.streamed_bytes);
}

void collect::give(std::uint64_t segment, const places& at) noexcept {
    const std::size_t size = bytes(me_, segment);
    const std::byte* const mine = what_.in_place
                                      ? piece(me_, segment)
                                      : input() + blocks_[me_].begin(segment) * what_.element;
    if (what_.what != schedule::collective::gather || !gets()) at.put(at.of(me_), mine, size);
    if (gets() && !what_.in_place) deliver(piece(me_, segment), mine, size);
}

void collect::take(std::uint64_t segment, const places& at) noexcept {
    for (const rank_t of : who_.others())
        deliver(piece(of, segment), at.of(of), bytes(of, segment));
}

}  // namespace ucg::node
