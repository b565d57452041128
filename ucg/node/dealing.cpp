#include "ucg/node/dealing.hpp"

#include <cstring>

namespace ucg::node {
namespace {

// Bytes of a slot for one of the ranks.
std::size_t room(const geometry& like, const tuning& by) noexcept {
    const std::size_t all = std::min<std::size_t>(by.segment, like.slot_bytes);
    return std::max(all / like.ranks / line * line, line);
}

}  // namespace

bool dealing::fits(const call& what, const geometry&) noexcept {
    return what.element <= line;
}

dealing::dealing(const call& what, rank_t me, const geometry& like, const tuning& by) noexcept
    : pattern(what, me, like.ranks),
      cut_(algo::segments_of(what.count, what.element, room(like, by))),
      stride_(cut_.longest() * what.element) {
    if (cut_.pieces > 1) stride_ = round_up(stride_, line);
    how_.segments = cut_.pieces;
    how_.bytes = stride_ * ranks_;
    how_.root = what.root;
}

void dealing::give(std::uint64_t segment, const places& at) noexcept {
    if (bytes(segment) == 0) return;
    for (rank_t to = 0; to < ranks_; ++to)
        if (to != me_)
            std::memcpy(at.of(me_) + to * stride_, own(to) + begin(segment), bytes(segment));
}

void all_to_all::give(std::uint64_t segment, const places& at) noexcept {
    dealing::give(segment, at);
    if (what_.in_place || bytes(segment) == 0) return;
    std::memcpy(output() + me_ * what_.count * what_.element + begin(segment),
                own(me_) + begin(segment), bytes(segment));
}

void all_to_all::take(std::uint64_t segment, const places& at) noexcept {
    if (bytes(segment) == 0) return;
    for (rank_t step = 1; step < ranks_; ++step) {
        const rank_t of = (me_ + step) % ranks_;  // not all from the same one at a time
        std::memcpy(output() + of * what_.count * what_.element + begin(segment), from(of, at),
                    bytes(segment));
    }
}

reduce_and_deal::reduce_and_deal(const call& what, rank_t me, const geometry& like,
                                 const tuning& by)
    : dealing(what, me, like, by), sources_(like.ranks) {}

// In place the result overwrites what was given before: the same piece of the first block.
void reduce_and_deal::take(std::uint64_t segment, const places& at) noexcept {
    for (rank_t rank = 0; rank < ranks_; ++rank)
        sources_[rank] = from(rank, at);
    sources_[me_] = own(me_) + begin(segment);
    what_.how->combine(output() + begin(segment), sources_.data(), ranks_, cut_.size(segment),
                       true);
}

deal::deal(const call& what, rank_t me, const geometry& like, const tuning& by) noexcept
    : dealing(what, me, like, by) {
    how_.to = me == what.root ? listens::to_nobody : listens::to_root;
}

void deal::give(std::uint64_t segment, const places& at) noexcept {
    if (me_ != what_.root || bytes(segment) == 0) return;
    const auto* const all = static_cast<const std::byte*>(what_.from);
    for (rank_t to = 0; to < ranks_; ++to) {
        const std::byte* const piece = all + to * what_.count * what_.element + begin(segment);
        if (to != me_)
            std::memcpy(at.of(me_) + to * stride_, piece, bytes(segment));
        else if (!what_.in_place)
            std::memcpy(output() + begin(segment), piece, bytes(segment));
    }
}

void deal::take(std::uint64_t segment, const places& at) noexcept {
    if (bytes(segment) != 0)
        std::memcpy(output() + begin(segment), from(how_.root, at), bytes(segment));
}

}  // namespace ucg::node
