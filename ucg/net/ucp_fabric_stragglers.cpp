// Queries for operations that wait for long: which ranks keep them from ending.
#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "ucg/net/ucp_fabric.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::net {

using schedule::rank_t;
using schedule::sequence_t;

// There is a second round within the time limit, for operations that begin after the first.
void ucp_fabric::limit_time(ucs::time::nanoseconds limit) noexcept {
    query_interval_ = std::clamp(limit / 4, ucs::time::millisecond, first_query_interval);
    next_query_ = std::min(next_query_, ucs::time::now() + query_interval_);
}

// A rank that only receives from another one has no connection that would report the other's death.
// A rank that lives may have left the group or lost its connection to this rank; it says so in
// reply to a query. A rank that waits itself replies with the ranks that it waits for, so that a
// rank that never comes is found.
void ucp_fabric::query_missing() {
    last_query_interval_ = query_interval_;
    query_interval_ = std::min(2 * query_interval_, longest_query_interval);
    round_messages_left_ = max_round_messages;
    for (const schedule::operation* each : running_)
        if (!each->failed()) searches_[each->number()].begin_round(awaited_ranks(*each));
    query_pending();
    update_askers();
}

// Queries for the oldest operations first. A send may fail other operations under way and so end
// them; their searches stay until the next round. Lost ranks end operations as well, so they are
// handled last.
void ucp_fabric::query_pending() {
    has_pending_queries_ = false;
    std::vector<std::pair<rank_t, ucs_status_t>> lost;
    for (auto& [number, search] : searches_) {
        search.query([&, op_number = number](rank_t rank) {
            const auto to = peers_.endpoint(rank);
            if (!to && to.status() != UCS_INPROGRESS) {
                lost.emplace_back(rank, to.status());
                return true;
            }
            if (!to || round_messages_left_ == 0) {
                has_pending_queries_ |= round_messages_left_ != 0;
                return false;
            }
            --round_messages_left_;
            return control_.send_query(*to, {group_, rank_, rank, 0, op_number});
        });
    }
    for (const auto& [rank, why] : lost)
        give_up(rank, why);
}

// Each message may end operations, as in query_pending().
void ucp_fabric::update_askers() {
    has_updates_ = false;
    for (auto& [number, search] : searches_) {
        const schedule::operation* const running = find(number);
        if (running == nullptr || running->failed() || !search.has_askers()) continue;
        search.send_updates(
            reported_stragglers(*running, search),
            [&, op_number = number](rank_t asker, const straggler_search::report& report) {
                if (round_messages_left_ == 0 || !may_update(asker)) return false;
                const auto to = peers_.endpoint(asker);
                if (!to) {
                    has_updates_ |= to.status() == UCS_INPROGRESS;
                    return false;
                }
                --round_messages_left_;
                return control_.send_reply(*to, group_, rank_, op_number, report);
            });
    }
}

// A member may send queries in the names of all others, and each new endpoint may take a
// connection, so only a few askers get one. The others get a new report when they send a query
// again.
bool ucp_fabric::may_update(rank_t asker) {
    if (peers_.has_endpoint(asker) ||
        std::ranges::find(asker_endpoints_, asker) != asker_endpoints_.end())
        return true;
    if (peers_.failure(asker) != UCS_OK || asker_endpoints_.size() == max_asker_endpoints)
        return false;
    asker_endpoints_.push_back(asker);
    return true;
}

// Includes the ranks that have not received what was sent to them. In ascending order, each once.
std::vector<rank_t> ucp_fabric::awaited_ranks(const schedule::operation& op) const {
    std::vector<rank_t> all;
    std::ranges::set_union(op.awaited(), op.unsent(), std::back_inserter(all));
    std::erase(all, rank_);
    return all;
}

std::vector<rank_t> ucp_fabric::stragglers(const schedule::operation& op) const {
    const auto found = searches_.find(op.number());
    if (found == searches_.end() || !found->second.has_queried()) return {};
    return found->second.stragglers(awaited_ranks(op));
}

// Returns as many stragglers as fit into one message.
std::vector<rank_t> ucp_fabric::reported_stragglers(const schedule::operation& op,
                                                    const straggler_search& search) const {
    std::vector<rank_t> found = search.stragglers(awaited_ranks(op));
    found.resize(std::min<std::size_t>(found.size(), straggler_search::max_ranks));
    return found;
}

std::optional<straggler_search::report> ucp_fabric::reply_to_asker(sequence_t number,
                                                                   rank_t asker) {
    if (numbers_.starts_until(number) != 0 || asker >= size()) return std::nullopt;
    const schedule::operation* const running = find(number);
    if (running == nullptr) return straggler_search::report();
    straggler_search& search = searches_[number];
    return search.reply_to(asker, reported_stragglers(*running, search));
}

void ucp_fabric::receive_report(sequence_t number, rank_t responder,
                                std::span<const rank_t> waiting_for,
                                std::span<const rank_t> started) noexcept try {
    const auto found = searches_.find(number);
    if (found == searches_.end()) return;
    const auto is_other = [this](rank_t each) { return each < size() && each != rank_; };
    straggler_search::report report;
    std::ranges::copy_if(waiting_for, std::back_inserter(report.waiting_for), is_other);
    std::ranges::copy_if(started, std::back_inserter(report.started), is_other);
    has_updates_ = true;
    // A rank that has found out something may soon find out more, and may not be able to send it by
    // itself (may_update). So this rank queries it again after the same interval as the last time.
    // In large trees, there are chains of ranks with many askers.
    if (found->second.receive(responder, report))
        query_interval_ = std::min({query_interval_, last_query_interval_, first_query_interval});
} catch (const std::bad_alloc&) {
    // The rank is queried again.
}

}  // namespace ucg::net
