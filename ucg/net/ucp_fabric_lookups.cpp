// Sends and failure reports to ranks whose address is not known yet.
#include <algorithm>
#include <utility>

#include "ucg/net/ucp_fabric.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::net {

using schedule::rank_t;

void ucp_fabric::await_address(schedule::step& step) noexcept try {
    const auto found = std::ranges::find(address_queues_, step.peer, &address_queue::to);
    address_queue& queue = found != address_queues_.end()
                               ? *found
                               : address_queues_.emplace_back(address_queue{step.peer, {}});
    queue.sends.append(step);
} catch (const std::bad_alloc&) {
    step.owner->complete(step, UCS_ERR_NO_MEMORY);
}

// Returns whether the send was in the queue.
bool ucp_fabric::remove_queued(schedule::step& step) noexcept {
    const auto found = std::ranges::find(address_queues_, step.peer, &address_queue::to);
    if (found == address_queues_.end() || !found->sends.remove(step)) return false;
    if (found->sends.first == nullptr) address_queues_.erase(found);
    return true;
}

// Sends all queued messages before anything else is sent to the rank. Sends that end at once are
// completed in progress(): the owner of a completed send would post its next send ahead of the ones
// still in the queue.
void ucp_fabric::on_endpoint_made(void* arg, rank_t rank, ucp_ep_h endpoint) {
    auto& self = *static_cast<ucp_fabric*>(arg);
    const auto found = std::ranges::find(self.address_queues_, rank, &address_queue::to);
    if (found == self.address_queues_.end()) return;
    schedule::step* each = found->sends.first;
    self.address_queues_.erase(found);
    while (each != nullptr) {
        schedule::step& posted = *each;
        each = std::exchange(posted.next_in_fabric, nullptr);
        const ucs_status_ptr_t result = self.transmit(posted, endpoint);
        posted.state = result;
        if (!UCS_PTR_IS_PTR(result))
            posted.next_in_fabric = std::exchange(self.ended_sends_, &posted);
    }
}

unsigned ucp_fabric::end_sends() noexcept {
    unsigned done = 0;
    for (schedule::step* each = std::exchange(ended_sends_, nullptr); each != nullptr; ++done) {
        schedule::step& posted = *each;
        each = posted.next_in_fabric;
        posted.owner->complete(posted, UCS_PTR_RAW_STATUS(posted.state));
    }
    return done;
}

// Handles ranks whose address came or cannot be found. Sends that end here may change the lists.
unsigned ucp_fabric::progress_lookups() noexcept {
    unsigned done = 0;
    for (std::size_t i = 0; i < address_queues_.size();) {
        const rank_t rank = address_queues_[i].to;
        const auto to = peers_.endpoint(rank);
        if (!to && to.status() == UCS_INPROGRESS) {
            ++i;
            continue;
        }
        if (!to) give_up(rank, to.status());
        ++done;
    }
    send_deferred();
    return done + end_sends();
}

// Sending a report may end operations of this rank, whose failures must then be reported as well.
void ucp_fabric::send_deferred() noexcept {
    std::vector<deferred_notice> now;
    now.swap(deferred_notices_);
    for (const deferred_notice& each : now) {
        const auto to = peers_.endpoint(each.to);
        if (to)
            control_.send_failure(*to, each.notice);
        else if (to.status() == UCS_INPROGRESS)
            defer_notice(each.to, each.notice);
    }
}

// A rank that cannot be found counts as lost.
void ucp_fabric::give_up(rank_t rank, ucs_status_t why) noexcept {
    if (const auto found = std::ranges::find(address_queues_, rank, &address_queue::to);
        found != address_queues_.end()) {
        schedule::step* each = found->sends.first;
        address_queues_.erase(found);
        while (each != nullptr) {
            schedule::step& posted = *each;
            each = posted.next_in_fabric;
            posted.owner->complete(posted, why);
        }
    }
    on_lost(this, rank, why);
}

void ucp_fabric::defer_notice(rank_t to_rank, const control_messages::failure& notice) noexcept {
    try {
        deferred_notices_.push_back({to_rank, notice});
    } catch (const std::bad_alloc&) {
        // A rank that waits for this one has a timeout, or learns of the failure from others.
    }
}

}  // namespace ucg::net
