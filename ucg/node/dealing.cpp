#include "ucg/node/dealing.hpp"

#include <cstring>

namespace ucg::node {
namespace {

// Bytes of a slot that the longest pieces take when there are so many segments. Each begins a line,
// but for those that fit a mailbox together.
struct packing {
    const call& what;
    const geometry& like;
    bool tight;

    [[nodiscard]] std::size_t piece(rank_t of, std::uint64_t segments) const noexcept {
        const std::size_t bytes = (block_count(what, of) + segments - 1) / segments * what.element;
        return tight ? bytes : round_up(bytes, line);
    }
    [[nodiscard]] std::size_t all(std::uint64_t segments) const noexcept {
        std::size_t sum = 0;
        for (rank_t rank = 0; rank < like.ranks; ++rank)
            sum += piece(rank, segments);
        return sum;
    }
};

// The fewest segments, nearly, of which none takes more than the tuning says; but no piece is cut
// to less than a line, for which there is room in every slot.
std::uint64_t segments_for(const packing& by, std::size_t most) noexcept {
    const std::uint64_t longest = longest_block(by.what, by.like.ranks);
    const std::uint64_t least = std::max<std::uint64_t>(line / by.what.element, 1);
    const std::uint64_t limit = std::max<std::uint64_t>((longest + least - 1) / least, 1);
    std::uint64_t segments = std::max<std::uint64_t>((by.all(1) + most - 1) / most, 1);
    while (segments < limit && by.all(segments) > most)
        segments += segments / 16 + 1;
    return std::min(segments, limit);
}

}  // namespace

bool dealing::fits(const call& what, const geometry& like) noexcept {
    return round_up(what.element, line) <= like.longest_segment() / like.ranks;
}

dealing::dealing(const call& what, const domains& who, const geometry& like, const tuning& by)
    : pattern(what, who) {
    packing how{what, like, true};
    const std::size_t least = round_up(what.element, line) * like.ranks;
    const std::size_t most = segment_for(how.all(1), least, like, by);
    how.tight = how.all(1) <= std::min<std::size_t>(most, like.mailbox_bytes);
    how_.segments = segments_for(how, most);
    hear_all();
    blocks_ = portions_of(what, ranks_, how_.segments);
    offsets_.reserve(ranks_);
    for (rank_t rank = 0; rank < ranks_; ++rank) {
        offsets_.push_back(how_.bytes);
        how_.bytes += how.piece(rank, how_.segments);
    }
    const bool gets_all = what.what == schedule::collective::alltoall;
    expect(what.count * what.element * (gets_all ? ranks_ : 1), by.streamed_bytes);
}

void dealing::give_others(const std::byte* all, std::uint64_t segment, const places& at) noexcept {
    std::byte* const slot = at.of(me_);
    for (rank_t to = 0; to < ranks_; ++to)
        if (to != me_)
            at.put(slot + offsets_[to], all + within_all(to, segment), bytes(to, segment));
}

void dealing::give(std::uint64_t segment, const places& at) noexcept {
    give_others(input(), segment, at);
}

void all_to_all::give(std::uint64_t segment, const places& at) noexcept {
    dealing::give(segment, at);
    if (what_.in_place) return;
    const std::size_t own = within_all(me_, segment);
    deliver(output() + own, input() + own, bytes(me_, segment));
}

void all_to_all::take(std::uint64_t segment, const places& at) noexcept {
    if (bytes(me_, segment) == 0) return;
    for (const rank_t of : who_.others())
        deliver(output() + within_all(of, segment), from(of, at), bytes(of, segment));
}

// In place the result overwrites the beginning of the input. That was given before, in the same
// segment, where the first block is at least as long as the own one; and so it does not reach the
// own one.
reduce_and_deal::reduce_and_deal(const call& what, const domains& who, const geometry& like,
                                 const tuning& by)
    : dealing(what, who, like, by) {
    sources_.reserve(like.ranks);
    if (block_count(what, me_) == 0) hear_nobody();
    if (what.in_place && me_ != 0 && block_count(what, me_) > block_count(what, 0))
        spare_.reset(new std::byte[block_count(what, me_) * what.element]);
}

void reduce_and_deal::take(std::uint64_t segment, const places& at) noexcept {
    sources_.clear();
    for (rank_t rank = 0; rank < ranks_; ++rank)
        sources_.push_back(rank == me_ ? input() + within_all(me_, segment) : from(rank, at));
    reduce_sources(segment);
}

void reduce_and_deal::reduce_sources(std::uint64_t segment) noexcept {
    std::byte* const into = spare_ != nullptr ? spare_.get() : output();
    what_.how->combine(into + within_block(me_, segment), sources_.data(), sources_.size(),
                       bytes(me_, segment) / what_.element, true);
    if (spare_ != nullptr && segment + 1 == how_.segments)
        std::memcpy(output(), spare_.get(), within_block(me_, how_.segments));
}

deal::deal(const call& what, const domains& who, const geometry& like, const tuning& by)
    : dealing(what, who, like, by) {
    if (me_ == what.root)
        hear_nobody();
    else
        how_.awaits[0] = root();
}

void deal::give(std::uint64_t segment, const places& at) noexcept {
    if (me_ != what_.root) return;
    const auto* const all = static_cast<const std::byte*>(what_.from);
    give_others(all, segment, at);
    if (!what_.in_place)
        deliver(output() + within_block(me_, segment), all + within_all(me_, segment),
                bytes(me_, segment));
}

void deal::take(std::uint64_t segment, const places& at) noexcept {
    deliver(output() + within_block(me_, segment), from(what_.root, at), bytes(me_, segment));
}

}  // namespace ucg::node
