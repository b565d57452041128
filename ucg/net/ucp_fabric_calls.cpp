// What becomes of an operation that waits for long: this rank calls those that it waits for.
#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "ucg/net/ucp_fabric.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::net {

using schedule::rank_t;
using schedule::sequence_t;

// There is a second round in the time, for those that begin after the first.
void ucp_fabric::hurry(ucs::time::nanoseconds limit) noexcept {
    between_calls_ = std::clamp(limit / 4, ucs::time::millisecond, first_call);
    next_call_ = std::min(next_call_, ucs::time::now() + between_calls_);
}

// Whoever only receives from a rank has no connection that would tell of its end; and one that
// lives may have left the group, or have lost its connection to this rank, and says so when it is
// asked. One that waits itself says for whom, so that a rank that never comes is found.
void ucp_fabric::call_missing() {
    between_calls_ = std::min(2 * between_calls_, longest_call);
    questions_ = most_questions;
    for (const schedule::operation* each : running_)
        if (!each->failed()) blames_[each->number()].begin_round(waits_of(*each));
    ask_pending();
}

// The oldest operations first. Who is lost ends operations, so that comes last.
void ucp_fabric::ask_pending() {
    asks_ = false;
    std::vector<std::pair<rank_t, ucs_status_t>> lost;
    for (auto& [number, book] : blames_) {
        book.ask([&, about = number](rank_t rank) {
            const auto to = peers_.to(rank);
            if (!to && to.status() != UCS_INPROGRESS) {
                lost.emplace_back(rank, to.status());
                return true;
            }
            if (!to || questions_ == 0) {
                asks_ |= questions_ != 0;
                return false;
            }
            --questions_;
            news::ask(*to, {group_, rank_, rank, 0, about});
            return true;
        });
    }
    for (const auto& [rank, why] : lost)
        give_up(rank, why);
}

// Also for those that do not take what is sent to them.
std::vector<rank_t> ucp_fabric::waits_of(const schedule::operation& what) const {
    std::vector<rank_t> all = what.missing();
    std::ranges::copy(what.unsent(), std::back_inserter(all));
    std::erase(all, rank_);
    return all;
}

std::vector<rank_t> ucp_fabric::blamed(const schedule::operation& what) const {
    const auto found = blames_.find(what.number());
    return found == blames_.end() ? std::vector<rank_t>() : found->second.ranks();
}

std::optional<std::vector<rank_t>> ucp_fabric::blames(sequence_t number) const {
    if (numbers_.ahead(number) != 0) return std::nullopt;
    const schedule::operation* const running = find(number);
    if (running == nullptr) return std::vector<rank_t>();
    std::vector<rank_t> known = blamed(*running);
    return known.empty() ? waits_of(*running) : known;
}

void ucp_fabric::hear_of_blame(sequence_t number, rank_t who,
                               std::span<const rank_t> blamed) noexcept try {
    const auto found = blames_.find(number);
    if (found == blames_.end()) return;
    std::vector<rank_t> others;
    std::ranges::copy_if(blamed, std::back_inserter(others),
                         [this](rank_t each) { return each < size() && each != rank_; });
    found->second.hear(who, others);
    asks_ = true;
} catch (const std::bad_alloc&) {
    // It is asked again.
}

}  // namespace ucg::net
