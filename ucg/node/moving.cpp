#include "ucg/node/moving.hpp"

#include <cstring>

namespace ucg::node {
namespace {

algo::cut cut_of(const call& what, const geometry& like, const tuning& by) noexcept {
    return algo::segments_of(what.count, what.element,
                             std::min<std::size_t>(by.segment, like.slot_bytes));
}

void put(std::byte* into, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes != 0) std::memcpy(into, from, bytes);
}

}  // namespace

broadcast::broadcast(const call& what, rank_t me, const geometry& like, const tuning& by) noexcept
    : pattern(what, me, like.ranks), cut_(cut_of(what, like, by)) {
    how_.segments = cut_.pieces;
    how_.bytes = cut_.longest() * what.element;
    how_.root = what.root;
    how_.to = me == what.root ? listens::to_nobody : listens::to_root;
}

void broadcast::give(std::uint64_t segment, const places& at) noexcept {
    if (me_ != what_.root) return;
    put(at.of(me_), output() + cut_.begin(segment) * what_.element,
        cut_.size(segment) * what_.element);
}

void broadcast::take(std::uint64_t segment, const places& at) noexcept {
    put(output() + cut_.begin(segment) * what_.element, at.of(what_.root),
        cut_.size(segment) * what_.element);
}

collect::collect(const call& what, rank_t me, const geometry& like, const tuning& by) noexcept
    : pattern(what, me, like.ranks), cut_(cut_of(what, like, by)) {
    how_.segments = cut_.pieces;
    how_.bytes = cut_.longest() * what.element;
    how_.root = what.root;
    if (what.what == schedule::collective::gather && me != what.root) how_.to = listens::to_nobody;
}

void collect::give(std::uint64_t segment, const places& at) noexcept {
    const std::size_t offset = cut_.begin(segment) * what_.element;
    const std::size_t bytes = cut_.size(segment) * what_.element;
    const std::byte* const mine = what_.in_place ? block(me_) : input();
    if (what_.what == schedule::collective::allgather || !gets())
        put(at.of(me_), mine + offset, bytes);
    if (gets() && !what_.in_place) put(block(me_) + offset, mine + offset, bytes);
}

void collect::take(std::uint64_t segment, const places& at) noexcept {
    const std::size_t offset = cut_.begin(segment) * what_.element;
    for (rank_t step = 1; step < ranks_; ++step) {
        const rank_t of = (me_ + step) % ranks_;  // not all from the same one at a time
        put(block(of) + offset, at.of(of), cut_.size(segment) * what_.element);
    }
}

}  // namespace ucg::node
