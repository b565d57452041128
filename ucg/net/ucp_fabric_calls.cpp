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
    between_last_calls_ = between_calls_;
    between_calls_ = std::min(2 * between_calls_, longest_call);
    messages_left_ = most_messages;
    for (const schedule::operation* each : running_)
        if (!each->failed()) blames_[each->number()].begin_round(waits_of(*each));
    ask_pending();
    tell_askers();
}

// The oldest operations first. What is sent may fail others that are under way and so end
// operations: their books stay until the next round. Ranks that are lost end operations as well, so
// that comes last.
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
            if (!to || messages_left_ == 0) {
                asks_ |= messages_left_ != 0;
                return false;
            }
            --messages_left_;
            return told_.ask(*to, {group_, rank_, rank, 0, about});
        });
    }
    for (const auto& [rank, why] : lost)
        give_up(rank, why);
}

// Each message may end operations, as in ask_pending.
void ucp_fabric::tell_askers() {
    tells_ = false;
    for (auto& [number, book] : blames_) {
        const schedule::operation* const running = find(number);
        if (running == nullptr || running->failed() || !book.is_asked()) continue;
        book.tell(first_blamed(*running, book),
                  [&, about = number](rank_t who, const blame::word& said) {
                      if (messages_left_ == 0 || !may_call_back(who)) return false;
                      const auto to = peers_.to(who);
                      if (!to) {
                          tells_ |= to.status() == UCS_INPROGRESS;
                          return false;
                      }
                      --messages_left_;
                      return told_.explain(*to, group_, rank_, about, said);
                  });
    }
}

// A member may ask in the names of all others, and each new endpoint may take a connection, so only
// a few askers get one. The others are told when they ask again.
bool ucp_fabric::may_call_back(rank_t asker) {
    if (peers_.is_called(asker) || std::ranges::find(called_back_, asker) != called_back_.end())
        return true;
    if (peers_.failure(asker) != UCS_OK || called_back_.size() == most_called_back) return false;
    called_back_.push_back(asker);
    return true;
}

// Also for those that do not take what is sent to them. In the order of numbers, each once.
std::vector<rank_t> ucp_fabric::waits_of(const schedule::operation& what) const {
    std::vector<rank_t> all;
    std::ranges::set_union(what.missing(), what.unsent(), std::back_inserter(all));
    std::erase(all, rank_);
    return all;
}

std::vector<rank_t> ucp_fabric::blamed(const schedule::operation& what) const {
    const auto found = blames_.find(what.number());
    if (found == blames_.end() || !found->second.has_asked()) return {};
    return found->second.ranks(waits_of(what));
}

// As many as one message names.
std::vector<rank_t> ucp_fabric::first_blamed(const schedule::operation& what,
                                             const blame& book) const {
    std::vector<rank_t> known = book.ranks(waits_of(what));
    known.resize(std::min<std::size_t>(known.size(), blame::most));
    return known;
}

std::optional<blame::word> ucp_fabric::answer(sequence_t number, rank_t asker) {
    if (numbers_.ahead(number) != 0 || asker >= size()) return std::nullopt;
    const schedule::operation* const running = find(number);
    if (running == nullptr) return blame::word();
    blame& book = blames_[number];
    return book.answer(asker, first_blamed(*running, book));
}

void ucp_fabric::hear_of_blame(sequence_t number, rank_t who, std::span<const rank_t> blamed,
                               std::span<const rank_t> begun) noexcept try {
    const auto found = blames_.find(number);
    if (found == blames_.end()) return;
    const auto is_other = [this](rank_t each) { return each < size() && each != rank_; };
    blame::word said;
    std::ranges::copy_if(blamed, std::back_inserter(said.blamed), is_other);
    std::ranges::copy_if(begun, std::back_inserter(said.begun), is_other);
    tells_ = true;
    // A rank that has found out something may soon find out more, and may not tell this rank by
    // itself (may_call_back): this rank asks it again as soon as the last time. Large trees have
    // ranks with many askers one below the other.
    if (found->second.hear(who, said))
        between_calls_ = std::min({between_calls_, between_last_calls_, first_call});
} catch (const std::bad_alloc&) {
    // It is asked again.
}

}  // namespace ucg::net
