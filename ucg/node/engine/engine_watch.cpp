// Detection of peers that are gone, have failed or write invalid counters, and the failure of the
// group.
#include <algorithm>
#include <new>

#include "ucg/node/engine/engine.hpp"
#include "ucg/node/memory/layout.hpp"
#include "ucg/schedule/log.hpp"

namespace ucg::node {
namespace {

constexpr ucs::time::nanoseconds peer_check_interval = ucs::time::millisecond;
constexpr ucs::time::nanoseconds liveness_check_interval = 10 * ucs::time::millisecond;
// No rank can be further ahead of the value that was last read of it.
constexpr std::uint64_t far_ahead = std::uint64_t{1} << 40;

}  // namespace

engine::reached engine::check_counter(counter& counters, rank_t rank,
                                      std::uint64_t value) noexcept {
    std::uint64_t& last_seen = counters.last_seen[rank];
    if (last_seen >= value) return reached::yes;
    const std::uint64_t found = load_acquire(memory_.control_of(rank).*counters.member);
    if (found - last_seen > far_ahead) return reached::invalid;  // also if it decreased
    last_seen = found;
    return found >= value ? reached::yes : reached::no;
}

bool engine::have_all_reached(counter& counters, std::uint64_t value,
                              std::span<const rank_t> ranks) noexcept {
    for (const rank_t rank : ranks) {
        const reached found = check_counter(counters, rank, value);
        if (found == reached::yes) continue;
        if (found == reached::invalid) fail_because_of_peer(rank);
        return false;
    }
    return true;
}

// A rank that has already begun another operation cannot be compared.
bool engine::has_same_call(rank_t rank, std::uint64_t entry) noexcept {
    if (rank == me_ || entry == entry_ || !call_signature::same_number(entry, entry_)) return true;
    if (failure_ != UCS_OK) return false;
    log_mismatch(rank, entry);
    fail(UCS_ERR_INVALID_PARAM);
    return false;
}

// The details of the peer are those of its last operation, which may be a later one.
void engine::log_mismatch(rank_t rank, std::uint64_t entry) const noexcept try {
    control& peer_control = memory_.control_of(rank);
    const call_signature last(load_relaxed(peer_control.entry), load_relaxed(peer_control.count),
                              load_relaxed(peer_control.rest));
    const std::string peer_call =
        last.entry(0) == entry ? last.text() : call_signature::text(entry);
    const std::string own_call = first_->signature_->text();
    ucs::log::error(node_log,
                    "rank {}: operation {} of the group failed: this rank called {}, rank {} {}{}; "
                    "let all ranks make the same calls in the same order",
                    me_, number_, own_call, rank, peer_call,
                    own_call == peer_call ? " with other counts of blocks or limits of sizes" : "");
} catch (const std::bad_alloc&) {
    ucs::log::error(node_log, "rank {}: rank {} called with other arguments", me_, rank);
}

bool engine::is_waiting_for(rank_t rank) const noexcept {
    const stage_plan& plan = first_->pattern_->plan();
    const control& peer_control = memory_.control_of(rank);
    const auto below = [](const std::uint64_t& word, std::uint64_t value) {
        return load_relaxed(const_cast<std::uint64_t&>(word)) < value;
    };
    const auto is_awaited = [&](unsigned stage) {
        return std::ranges::find(plan.awaits[stage], rank) != plan.awaits[stage].end();
    };
    if (rank == me_) return false;
    if (first_->in_mailbox_) {
        if (!posted_) return below(peer_control.entered, number_ + 2 - memory_.layout().mailboxes);
        return is_awaited(0) && below(memory_.mailbox(rank, number_).number, number_ + 1);
    }
    // If this rank itself has not taken the slots that it wants to use again, it waits for other
    // ranks, and the others may wait for the same rank as it does.
    const std::uint64_t required = passed_[0] != plan.segments ? taken_before_reuse(passed_[0]) : 0;
    if (slot_of(taken_) >= required && below(peer_control.taken, required)) return true;
    for (unsigned stage = 0; stage <= plan.work_stages; ++stage) {
        const std::uint64_t done = stage < plan.work_stages ? passed_[stage + 1] : taken_;
        if (done != passed_[stage] && is_awaited(stage) &&
            below(peer_control.*passed_by_peers_[stage].member, done_with(done)))
            return true;
    }
    return false;
}

std::vector<rank_t> engine::missing() const {
    std::vector<rank_t> ranks;
    for (rank_t rank = 0; first_ != nullptr && rank < size(); ++rank)
        if (is_waiting_for(rank)) ranks.push_back(rank);
    return ranks;
}

bool engine::is_gone(rank_t rank, bool ask_kernel) noexcept {
    return load_relaxed(memory_.control_of(rank).failed) == has_left ||
           (ask_kernel && lives_.is_dead(rank));
}

// Runs while nothing advances. A rank that died may have done all that is expected of it, so it
// counts only if this rank still waits for it after it was seen dead.
void engine::check_peers() noexcept {
    const ucs::time::nanoseconds now = ucs::time::now();
    if (first_ == nullptr || now - last_peer_check_ < peer_check_interval) return;
    last_peer_check_ = now;
    const bool ask_kernel = now - last_liveness_check_ >= liveness_check_interval;
    if (ask_kernel) last_liveness_check_ = now;
    for (rank_t rank = 0; rank < size() && first_ != nullptr; ++rank) {
        control& peer_control = memory_.control_of(rank);
        const std::uint64_t failed = load_relaxed(peer_control.failed);
        if (rank == me_) continue;
        if (failed != 0 && failed != has_left) {
            fail_because_of_peer(rank);
        } else if (is_waiting_for(rank)) {
            if (!has_same_call(rank, load_relaxed(peer_control.entry))) return;
            if (is_gone(rank, ask_kernel) && is_waiting_for(rank))
                fail_group(rank, UCS_ERR_CONNECTION_RESET, "is gone");
        }
    }
}

// Fails the group because of a peer: with the status that the peer reported, or because the peer
// wrote an invalid counter.
void engine::fail_because_of_peer(rank_t peer) noexcept {
    const std::uint64_t failed = load_relaxed(memory_.control_of(peer).failed);
    if (failed == 0 || failed == has_left) {
        fail_group(peer, UCS_ERR_IO_ERROR, "wrote an invalid counter");
        return;
    }
    fail_group(peer, status_in(failed), "gave up");
}

void engine::fail_group(rank_t because_of, ucs_status_t why, const char* reason) noexcept {
    if (failure_ != UCS_OK) return;
    ucs::log::warn(node_log, "rank {}: operation {} of the group failed: rank {} {}: {}", me_,
                   number_, because_of, reason, ucs_status_string(why));
    fail(why);
}

void engine::fail(ucs_status_t why) noexcept {
    if (failure_ != UCS_OK) return;
    failure_ = why;
    // A rank that comes later must not find that this rank has done its part.
    store_release(control_.failed, word_of(why));
    for (const auto member : {&control::given, &control::worked, &control::worked_again,
                              &control::taken, &control::entered})
        store_release(control_.*member, gave_up);
    if (first_ != nullptr && first_->in_mailbox_ && posted_)
        store_release(memory_.mailbox(me_, number_).number, gave_up);
    wake_sleepers(memory_, me_);
    while (first_ != nullptr) {
        operation* const ended = first_;
        first_ = ended->next_;
        if (first_ == nullptr) last_ = nullptr;
        ended->end(why);
    }
}

}  // namespace ucg::node
