#include "ucg/node/by_domain.hpp"

// Slots are cut into places here, so segments are long ones, whatever the vector.
namespace ucg::node {
namespace {

using schedule::collective;

bool has_level(collective what) noexcept {
    return what == collective::bcast || what == collective::reduce ||
           what == collective::allreduce || what == collective::allgather ||
           what == collective::allgatherv || what == collective::reduce_scatter ||
           what == collective::reduce_scatter_block;
}

// Elements of the whole vector.
std::uint64_t elements(const call& what, rank_t ranks) noexcept {
    if (what.what == collective::bcast || what.what == collective::reduce ||
        what.what == collective::allreduce)
        return what.count;
    std::uint64_t all = 0;
    for (rank_t rank = 0; rank < ranks; ++rank)
        all += block_count(what, rank);
    return all;
}

// The most pieces that lie in a slot: the own one and those that a helper fetches.
std::size_t most_pieces(const domains& who) {
    std::vector<std::size_t> pieces(who.ranks(), 1);
    for (rank_t domain = 0; domain < who.count(); ++domain)
        for (rank_t rank = 0; rank < who.ranks(); ++rank)
            if (who.of(rank) != domain) ++pieces[who.helper(domain, rank)];
    return *std::ranges::max_element(pieces);
}

// Their sums leave the range of the type early; the engine's other ways store no sum before its
// last element.
bool is_of_short_range(const call& what) noexcept {
    if (what.how == nullptr || what.how->kind() == 0) return false;
    const auto of = static_cast<reduce::element>((what.how->kind() - 1u) % reduce::element_count);
    return of == reduce::element::fp16 || of == reduce::element::fp8_e4m3 ||
           of == reduce::element::fp8_e5m2;
}

}  // namespace

// An element must fit the smallest place that a pattern below cuts a slot into.
bool pays_by_domain(const call& what, const domains& who, const geometry& like,
                    const tuning& by) noexcept {
    if (!who.several() || !has_level(what.what)) return false;
    if (elements(what, who.ranks()) * what.element < by.domain_bytes) return false;
    if (what.how != nullptr && !what.how->commutative() && !who.in_order()) return false;
    if (is_of_short_range(what)) return false;
    return round_up(what.element, line) <= longest_segment(like, by) / who.ranks();
}

// --- allreduce, reduce ---

reduce_by_domain::reduce_by_domain(const call& what, const domains& who, const geometry& like,
                                   const tuning& by)
    : pattern(what, who),
      upper_(round_up(longest_segment(like, by) / 2, line)),
      cut_(algo::segments_of(what.count, what.element, longest_segment(like, by) - upper_)),
      step_(std::max<std::size_t>(by.block / what.element, 1) * what.element),
      sources_(who.ranks()) {
    const std::span<const rank_t> here = who.in(who.mine());
    for (rank_t domain = 0; domain < who.count(); ++domain)
        if (domain != who.mine() && owns()) peers_.push_back(who.in(domain)[who.index(me_)]);
    for (rank_t share = 0; share < who.fewest(); ++share)
        if (here[share] != me_) owners_.push_back(here[share]);
    how_.segments = cut_.pieces;
    how_.bytes = upper_ + cut_.longest() * what.element;
    how_.works = 2;
    if (owns()) how_.awaits[0] = who.near();
    if (joins()) how_.awaits[1] = peers_;
    if (wants_result())
        how_.awaits[2] = owners_;
    else
        hear_nobody();
    expect(what.count * what.element, by.streamed_sum_bytes);
}

bool reduce_by_domain::joins() const noexcept {
    return owns() && (what_.what == collective::allreduce || who_.of(what_.root) == who_.mine());
}

void reduce_by_domain::give(std::uint64_t segment, const places& at) noexcept {
    at.put(at.of(me_), input() + begin(segment), cut_.size(segment) * what_.element);
}

ucs_status_t reduce_by_domain::work(unsigned turn, std::uint64_t segment,
                                    const places& at) noexcept {
    if (turn == 0 && owns()) reduce_domain(segment, at);
    if (turn == 1 && joins()) reduce_shares(segment, at);
    return UCS_OK;
}

// The result may lie over one of its sources: each element is read before it is written, and nobody
// else reads this share of this slot.
void reduce_by_domain::reduce_domain(std::uint64_t segment, const places& at) noexcept {
    const std::span<const rank_t> here = who_.in(who_.mine());
    const part mine = share(segment, who_.index(me_));
    for (std::size_t i = 0; i < here.size(); ++i)
        sources_[i] = at.of(here[i]) + mine.begin;
    what_.how->combine(at.of(me_) + mine.begin, sources_.data(), here.size(),
                       mine.size() / what_.element, false);
}

// In blocks that stay in the nearest cache, since the result goes to two places.
void reduce_by_domain::reduce_shares(std::uint64_t segment, const places& at) noexcept {
    const rank_t index = who_.index(me_);
    const part mine = share(segment, index);
    for (std::size_t offset = mine.begin; offset < mine.end; offset += step_) {
        const std::size_t size = std::min(step_, mine.end - offset);
        for (rank_t domain = 0; domain < who_.count(); ++domain)
            sources_[domain] = at.of(who_.in(domain)[index]) + offset;
        std::byte* const result = at.of(me_) + upper_ + offset;
        what_.how->combine(result, sources_.data(), who_.count(), size / what_.element, true);
        if (wants_result()) deliver(output() + begin(segment) + offset, result, size);
    }
}

void reduce_by_domain::take(std::uint64_t segment, const places& at) noexcept {
    for (const rank_t of : owners_) {
        const part its = share(segment, who_.index(of));
        deliver(output() + begin(segment) + its.begin, at.of(of) + upper_ + its.begin, its.size());
    }
}

// --- bcast ---

broadcast_by_domain::broadcast_by_domain(const call& what, const domains& who, const geometry& like,
                                         const tuning& by)
    : pattern(what, who),
      cut_(algo::segments_of(what.count, what.element, longest_segment(like, by))) {
    how_.segments = cut_.pieces;
    how_.bytes = cut_.longest() * what.element;
    how_.works = 1;
    if (me_ == what.root) {
        hear_nobody();
    } else {
        if (!near_root()) how_.awaits[0] = root();
        how_.awaits[1] = near_root() ? root() : who.near();
    }
    expect(what.count * what.element, by.streamed_bytes);
}

void broadcast_by_domain::give(std::uint64_t segment, const places& at) noexcept {
    if (me_ != what_.root) return;
    at.put(at.of(me_), output() + cut_.begin(segment) * what_.element,
           cut_.size(segment) * what_.element);
}

ucs_status_t broadcast_by_domain::work(unsigned, std::uint64_t segment, const places& at) noexcept {
    if (near_root()) return UCS_OK;
    const part mine = share(segment, me_);
    if (mine.size() != 0)
        std::memcpy(at.of(me_) + mine.begin, at.of(what_.root) + mine.begin, mine.size());
    return UCS_OK;
}

void broadcast_by_domain::take(std::uint64_t segment, const places& at) noexcept {
    std::byte* const into = output() + cut_.begin(segment) * what_.element;
    if (near_root()) {
        deliver(into, at.of(what_.root), cut_.size(segment) * what_.element);
        return;
    }
    for (const rank_t of : who_.in(who_.mine())) {
        const part its = share(segment, of);
        deliver(into + its.begin, at.of(of) + its.begin, its.size());
    }
}

// --- allgather, allgatherv ---

collect_by_domain::collect_by_domain(const call& what, const domains& who, const geometry& like,
                                     const tuning& by)
    : pattern(what, who), offsets_(who.ranks()) {
    const std::size_t place = longest_segment(like, by) / most_pieces(who) / line * line;
    const algo::cut longest = algo::segments_of(longest_block(what, ranks_), what.element, place);
    blocks_ = portions_of(what, ranks_, longest.pieces);
    std::vector<std::size_t> used(ranks_, 1);  // places in the slots of helpers
    for (rank_t rank = 0; rank < ranks_; ++rank) {
        if (who.of(rank) == who.mine()) continue;
        const rank_t by_whom = who.helper(who.mine(), rank);
        offsets_[rank] = used[by_whom]++ * place;
        if (by_whom == me_) fetched_.push_back(rank);
    }
    how_.segments = longest.pieces;
    how_.bytes = most_pieces(who) * place;
    how_.works = 1;
    how_.awaits = {fetched_, who.near()};
    expect(elements(what, ranks_) * what.element, by.streamed_bytes);
}

void collect_by_domain::give(std::uint64_t segment, const places& at) noexcept {
    const std::size_t size = bytes(me_, segment);
    const std::byte* const mine = what_.in_place
                                      ? piece(me_, segment)
                                      : input() + blocks_[me_].begin(segment) * what_.element;
    at.put(at.of(me_), mine, size);
    if (!what_.in_place) deliver(piece(me_, segment), mine, size);
}

ucs_status_t collect_by_domain::work(unsigned, std::uint64_t segment, const places& at) noexcept {
    for (const rank_t of : fetched_)
        std::memcpy(at.of(me_) + offsets_[of], at.of(of), bytes(of, segment));
    return UCS_OK;
}

void collect_by_domain::take(std::uint64_t segment, const places& at) noexcept {
    for (const rank_t of : who_.others()) {
        const std::byte* const from = at.of(who_.helper(who_.mine(), of)) + offsets_[of];
        deliver(piece(of, segment), from, bytes(of, segment));
    }
}

// --- reduce_scatter ---

reduce_and_deal_by_domain::reduce_and_deal_by_domain(const call& what, const domains& who,
                                                     const geometry& like, const tuning& by)
    : reduce_and_deal(what, who, like, by) {
    for (rank_t rank = 0; rank < ranks_; ++rank)
        if (who.helper(who.mine(), rank) == me_) helped_.push_back(rank);
    for (rank_t domain = 0; domain < who.count(); ++domain)
        if (domain != who.mine()) helpers_.push_back(who.helper(domain, me_));
    how_.works = 1;
    how_.awaits = {who.near(), helpers_};
    if (!how_.takes) hear_nobody();
}

// All of it: nothing is read where it lies once results are written.
void reduce_and_deal_by_domain::give(std::uint64_t segment, const places& at) noexcept {
    reduce_and_deal::give(segment, at);
    at.put(at.of(me_) + offset(me_), input() + within_all(me_, segment), bytes(me_, segment));
}

ucs_status_t reduce_and_deal_by_domain::work(unsigned, std::uint64_t segment,
                                             const places& at) noexcept {
    for (const rank_t of : helped_) {
        sources_.clear();
        for (const rank_t rank : who_.in(who_.mine()))
            sources_.push_back(at.of(rank) + offset(of));
        what_.how->combine(at.of(me_) + offset(of), sources_.data(), sources_.size(),
                           bytes(of, segment) / what_.element, false);
    }
    return UCS_OK;
}

void reduce_and_deal_by_domain::take(std::uint64_t segment, const places& at) noexcept {
    sources_.clear();
    for (rank_t domain = 0; domain < who_.count(); ++domain)
        sources_.push_back(from(who_.helper(domain, me_), at));
    reduce_sources(segment);
}

}  // namespace ucg::node
