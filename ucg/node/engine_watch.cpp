// How the engine looks at other ranks, and what it does about those that are gone or talk nonsense.
#include <algorithm>
#include <new>

#include "ucg/node/engine.hpp"
#include "ucg/node/log.hpp"
#include "ucg/node/status_word.hpp"

namespace ucg::node {
namespace {

constexpr ucs::time::nanoseconds between_patrols = ucs::time::millisecond;
constexpr ucs::time::nanoseconds between_asks = 10 * ucs::time::millisecond;
// More than any rank can be ahead of what was last seen of it.
constexpr std::uint64_t far_ahead = std::uint64_t{1} << 40;

}  // namespace

engine::seen engine::look_at(counter& all, rank_t rank, std::uint64_t value) noexcept {
    std::uint64_t& known = all.known[rank];
    if (known >= value) return seen::yes;
    const std::uint64_t found = look(memory_.control_of(rank).*all.where);
    if (found - known > far_ahead) return seen::nonsense;  // also where it went back
    known = found;
    return found >= value ? seen::yes : seen::no;
}

bool engine::have(counter& all, std::uint64_t value, std::span<const rank_t> of) noexcept {
    for (const rank_t rank : of) {
        const seen found = look_at(all, rank, value);
        if (found == seen::yes) continue;
        if (found == seen::nonsense) give_up_as(rank);
        return false;
    }
    return true;
}

// Those who began another operation already are beyond comparing.
bool engine::agrees(rank_t rank, std::uint64_t entry) noexcept {
    if (rank == me_ || entry == entry_ || !claim::same_number(entry, entry_)) return true;
    if (failure_ != UCS_OK) return false;
    log_disagreement(rank, entry);
    fail(UCS_ERR_INVALID_PARAM);
    return false;
}

// The details of the other rank are those of its last operation, which may be a later one.
void engine::log_disagreement(rank_t rank, std::uint64_t entry) const noexcept try {
    control& its = memory_.control_of(rank);
    const claim last(peek(its.entry), peek(its.count), peek(its.rest));
    const std::string theirs = last.entry(0) == entry ? last.text() : claim::text(entry);
    const std::string ours = first_->claim_->text();
    ucs::log::error(node_log,
                    "rank {}: operation {} of the group failed: this rank called {}, rank {} {}{}; "
                    "let all ranks make the same calls in the same order",
                    me_, number_, ours, rank, theirs,
                    ours == theirs ? " with other counts of blocks or limits of sizes" : "");
} catch (const std::bad_alloc&) {
    ucs::log::error(node_log, "rank {}: rank {} called with other arguments", me_, rank);
}

bool engine::waits_for(rank_t rank) const noexcept {
    const flow& how = first_->pattern_->how();
    const control& its = memory_.control_of(rank);
    const auto below = [](const std::uint64_t& word, std::uint64_t value) {
        return peek(const_cast<std::uint64_t&>(word)) < value;
    };
    const auto awaits = [&](unsigned stage) {
        return std::ranges::find(how.awaits[stage], rank) != how.awaits[stage].end();
    };
    if (rank == me_) return false;
    if (first_->in_mailbox_) {
        if (!posted_) return below(its.entered, number_ + 2 - memory_.like().mailboxes);
        return awaits(0) && below(memory_.mailbox(rank, number_).number, number_ + 1);
    }
    // Where this rank itself is not through the slots that it wants to use again, the others may
    // wait for the same rank as it does.
    const std::uint64_t room = passed_[0] != how.segments ? room_for(passed_[0]) : 0;
    if (slot_of(taken_) >= room && below(its.taken, room)) return true;
    for (unsigned stage = 0; stage <= how.works; ++stage) {
        const std::uint64_t done = stage < how.works ? passed_[stage + 1] : taken_;
        if (done != passed_[stage] && awaits(stage) &&
            below(its.*passed_by_[stage].where, done_with(done)))
            return true;
    }
    return false;
}

std::vector<rank_t> engine::missing() const {
    std::vector<rank_t> ranks;
    for (rank_t rank = 0; first_ != nullptr && rank < size(); ++rank)
        if (waits_for(rank)) ranks.push_back(rank);
    return ranks;
}

bool engine::is_gone(rank_t rank, bool ask) noexcept {
    return peek(memory_.control_of(rank).failed) == has_left || (ask && lives_.is_dead(rank));
}

// While nothing moves. Whoever died may have done all that is expected of it, so only a rank that
// is still waited for after it was seen dead counts.
void engine::patrol() noexcept {
    const ucs::time::nanoseconds now = ucs::time::now();
    if (first_ == nullptr || now - last_patrol_ < between_patrols) return;
    last_patrol_ = now;
    const bool ask = now - last_ask_ >= between_asks;
    if (ask) last_ask_ = now;
    for (rank_t rank = 0; rank < size() && first_ != nullptr; ++rank) {
        control& its = memory_.control_of(rank);
        const std::uint64_t failed = peek(its.failed);
        if (rank == me_) continue;
        if (failed != 0 && failed != has_left) {
            give_up_as(rank);
        } else if (waits_for(rank)) {
            if (!agrees(rank, peek(its.entry))) return;
            if (is_gone(rank, ask) && waits_for(rank))
                give_up(rank, UCS_ERR_CONNECTION_RESET, "is gone");
        }
    }
}

// It says why, or else wrote what cannot be.
void engine::give_up_as(rank_t other) noexcept {
    const std::uint64_t failed = peek(memory_.control_of(other).failed);
    if (failed == 0 || failed == has_left) {
        give_up(other, UCS_ERR_IO_ERROR, "wrote nonsense");
        return;
    }
    give_up(other, status_in(failed), "gave up");
}

void engine::give_up(rank_t because_of, ucs_status_t why, const char* what) noexcept {
    if (failure_ != UCS_OK) return;
    ucs::log::warn(node_log, "rank {}: operation {} of the group failed: rank {} {}: {}", me_,
                   number_, because_of, what, ucs_status_string(why));
    fail(why);
}

void engine::fail(ucs_status_t why) noexcept {
    if (failure_ != UCS_OK) return;
    failure_ = why;
    // Whoever comes later must not find that this rank has done its part.
    tell(mine_.failed, word_of(why));
    for (const auto where : {&control::given, &control::worked, &control::worked_again,
                             &control::taken, &control::entered})
        tell(mine_.*where, gave_up);
    if (first_ != nullptr && first_->in_mailbox_ && posted_)
        tell(memory_.mailbox(me_, number_).number, gave_up);
    call_sleepers(memory_, me_);
    while (first_ != nullptr) {
        operation* const ended = first_;
        first_ = ended->next_;
        if (first_ == nullptr) last_ = nullptr;
        ended->end(why);
    }
}

}  // namespace ucg::node
