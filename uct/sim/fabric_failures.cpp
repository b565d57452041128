// How links fail and workers die.
#include "uct/sim/fabric.hpp"

namespace uct::sim {

void fabric::fail_at_operation(node_id from, node_id to, std::uint64_t nth) {
    failing_operation_[{from, to}] = nth;
}

void fabric::fail_after(node_id from, node_id to, ucs::time::nanoseconds delay) {
    schedule({.when = now_ + delay,
              .what = action::fail,
              .status = UCS_ERR_ENDPOINT_TIMEOUT,
              .from = from,
              .to = to});
}

bool fabric::must_fail(const link& on) {
    const auto found = failing_operation_.find({on.from, on.to});
    if (found != failing_operation_.end() && --found->second == 0) {
        failing_operation_.erase(found);
        return true;
    }
    return dice_.chance(network_.ep_failure);
}

void fabric::fail_links(const event& what) {
    if (what.on != nullptr) {
        fail(what.on, what.status);
        return;
    }
    if (what.from >= nodes_.size()) return;
    for (const auto& [number, candidate] : nodes_[what.from]->out) {
        if (candidate->to == what.to && candidate->bound()) fail(candidate, what.status);
    }
}

void fabric::fail(const link_ptr& on, ucs_status_t status) {
    if (on->owner == nullptr || on->failure != UCS_OK || !nodes_[on->from]->alive) return;
    fail_alone(on, status);
    if (network_.both_ways && nodes_[on->to]->alive) fail_opposites(*on);
}

void fabric::fail_alone(const link_ptr& on, ucs_status_t status) {
    node& sender = *nodes_[on->from];
    if (on->owner == nullptr || on->failure != UCS_OK || !sender.alive) return;
    record(event_kind::ep_failed, *on, static_cast<std::uint64_t>(status));
    on->failure = status;
    lose_wire_tail(*on);
    sender.due.push_back({due_item::kind::failure, on, {}});
}

void fabric::end(const link_ptr& on, ucs_status_t status) {
    fail_alone(on, UCS_ERR_CONNECTION_RESET);
    on->wire.clear();
    on->landing = false;
    for (; !on->arrived.empty(); on->arrived.pop_front())
        consumed_message(*nodes_[on->to]);
    if (!on->paired || !on->partner) return;
    const auto partner = pairs_.find(*on->partner);
    if (partner != pairs_.end()) fail_alone(partner->second, status);
}

void fabric::fail_opposites(const link& of) {
    for (const auto& [number, opposite] : nodes_[of.to]->out) {
        if (opposite->to != of.from || opposite->failure != UCS_OK) continue;
        if (of.paired && opposite->partner != of.number) continue;
        schedule({.when = now_ + travel_time(of, 0),
                  .what = action::fail,
                  .on = opposite,
                  .status = UCS_ERR_CONNECTION_RESET});
    }
}

void fabric::lose_wire_tail(link& on) {
    // A connection breaks at some byte: what is before it still arrives.
    on.wire.resize(dice_.below(on.wire.size() + 1));
    for (const operation_ptr& message : on.wire)
        message->gather();
    if (on.landing && dice_.chance(0.5)) {
        node& target = *nodes_[on.to];
        for (; !on.arrived.empty(); on.arrived.pop_front())
            consumed_message(target);
        on.wire.clear();
        on.landing = false;
    }
}

void fabric::kill_after(std::uint64_t worker_uid, ucs::time::nanoseconds delay) {
    schedule({.when = now_ + delay, .what = action::die, .worker_uid = worker_uid});
}

void fabric::kill(std::uint64_t worker_uid) {
    for (const auto& candidate : nodes_) {
        if (candidate->worker_uid != worker_uid || !candidate->alive) continue;
        record(event_kind::node_died, *candidate);
        candidate->killed = true;
        for (const auto& [number, broken] : candidate->out)
            lose_wire_tail(*broken);
        lose_peers(*candidate);
    }
}

void fabric::cut_off(std::uint64_t worker_uid) {
    for (const auto& each : nodes_) {
        if (each->worker_uid != worker_uid || !(each->alive || each->killed)) continue;
        record(event_kind::node_cut, *each);
        each->alive = true;
        each->cut = true;
        for (const auto& [number, broken] : each->out) {
            if (!is_cut(*each, broken->to)) continue;
            // Of one that had failed already its death may have come before it heard so.
            if (each->killed && broken->failure != UCS_OK)
                each->due.push_back({due_item::kind::failure, broken, {}});
            fail_alone(broken, UCS_ERR_ENDPOINT_TIMEOUT);
        }
        for (const auto& [number, broken] : each->in)
            if (is_cut(*nodes_[broken->from], each->id))
                fail_alone(broken, UCS_ERR_ENDPOINT_TIMEOUT);
    }
}

// A worker always reaches itself.
bool fabric::is_cut(const node& from, node_id to) const noexcept {
    return (from.cut || nodes_[to]->cut) && from.worker_uid != nodes_[to]->worker_uid;
}

void fabric::leave(node& which) {
    if (!which.alive) return;
    record(event_kind::node_left, which);
    lose_peers(which);
}

void fabric::lose_peers(node& gone) {
    gone.alive = false;
    gone.due.clear();
    gone.held_back.clear();
    gone.queued_messages = 0;
    for (const auto& [number, towards] : gone.in) {
        towards->arrived.clear();
        towards->landing = false;
        if (!towards->bound()) continue;  // see bind
        schedule({.when = now_ + network_.detection_time,
                  .what = action::fail,
                  .on = towards,
                  .status = towards->paired ? UCS_ERR_ENDPOINT_TIMEOUT : UCS_ERR_CONNECTION_RESET});
    }
    // Of endpoints that are gone: nobody takes their last messages.
    std::erase_if(pairs_, [&gone](const auto& each) {
        return each.second->owner == nullptr && each.second->to == gone.id;
    });
}

}  // namespace uct::sim
