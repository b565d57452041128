// Ranks whose address is not there yet.
#include <algorithm>
#include <utility>

#include "ucg/net/ucp_fabric.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::net {

using schedule::rank_t;
using schedule::step;

void ucp_fabric::await_address(step& what) noexcept {
    what.neighbour = nullptr;
    const auto known = std::ranges::find(queues_, what.peer, &queue::to);
    if (known != queues_.end()) {
        known->last = known->last->neighbour = &what;
        return;
    }
    try {
        queues_.push_back({what.peer, &what, &what});
    } catch (const std::bad_alloc&) {
        what.owner->complete(what, UCS_ERR_NO_MEMORY);
    }
}

// Whether it waited.
bool ucp_fabric::take_back(step& what) noexcept {
    const auto known = std::ranges::find(queues_, what.peer, &queue::to);
    if (known == queues_.end()) return false;
    step* before = nullptr;
    for (step* each = known->first; each != &what; each = each->neighbour) {
        if (each == nullptr) return false;
        before = each;
    }
    (before != nullptr ? before->neighbour : known->first) = what.neighbour;
    if (known->last == &what) known->last = before;
    if (known->first == nullptr) queues_.erase(known);
    return true;
}

// All go out before anything else is sent there. What ends at once does so in progress(): whoever
// waits for it would post the next send before those behind it are out.
void ucp_fabric::on_reached(void* arg, rank_t reached, ucp_ep_h by) {
    auto& self = *static_cast<ucp_fabric*>(arg);
    const auto known = std::ranges::find(self.queues_, reached, &queue::to);
    if (known == self.queues_.end()) return;
    step* each = known->first;
    self.queues_.erase(known);
    while (each != nullptr) {
        step& now = *each;
        each = std::exchange(now.neighbour, nullptr);
        const ucs_status_ptr_t result = self.transmit(now, by);
        now.state = result;
        if (!UCS_PTR_IS_PTR(result)) now.neighbour = std::exchange(self.sent_, &now);
    }
}

unsigned ucp_fabric::end_sends() noexcept {
    unsigned done = 0;
    for (step* each = std::exchange(sent_, nullptr); each != nullptr; ++done) {
        step& now = *each;
        each = now.neighbour;
        now.owner->complete(now, UCS_PTR_RAW_STATUS(now.state));
    }
    return done;
}

// Whose address came, and whose will not. What ends here may change the lists.
unsigned ucp_fabric::look_up() noexcept {
    unsigned done = 0;
    for (std::size_t i = 0; i < queues_.size();) {
        const rank_t rank = queues_[i].to;
        const auto to = peers_.to(rank);
        if (!to && to.status() == UCS_INPROGRESS) {
            ++i;
            continue;
        }
        if (!to) give_up(rank, to.status());
        ++done;
    }
    tell_debts();
    return done + end_sends();
}

// A word may end operations here when it is sent, and others are then to be told of these.
void ucp_fabric::tell_debts() noexcept {
    std::vector<debt> now;
    now.swap(debts_);
    for (const debt& each : now) {
        const auto to = peers_.to(each.to);
        if (to)
            told_.tell(*to, each.what);
        else if (to.status() == UCS_INPROGRESS)
            owe(each.to, each.what);
    }
}

// A rank that cannot be found is as one that is lost.
void ucp_fabric::give_up(rank_t rank, ucs_status_t why) noexcept {
    if (const auto known = std::ranges::find(queues_, rank, &queue::to); known != queues_.end()) {
        step* each = known->first;
        queues_.erase(known);
        while (each != nullptr) {
            step& now = *each;
            each = now.neighbour;
            now.owner->complete(now, why);
        }
    }
    on_lost(this, rank, why);
}

void ucp_fabric::owe(rank_t whom, const news::failure& what) noexcept {
    try {
        debts_.push_back({whom, what});
    } catch (const std::bad_alloc&) {
        // Whoever waits for this rank has a timeout, or hears of it from others.
    }
}

}  // namespace ucg::net
