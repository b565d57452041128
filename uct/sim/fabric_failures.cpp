// Failures of links and deaths of workers.
#include "uct/sim/fabric.hpp"

namespace uct::sim {

void fabric::fail_at_operation(node_id from, node_id to, std::uint64_t nth) {
    failing_operation_[{from, to}] = nth;
}

void fabric::fail_after(node_id from, node_id to, ucs::time::nanoseconds delay) {
    schedule({.when = now_ + delay,
              .kind = action::fail,
              .status = UCS_ERR_ENDPOINT_TIMEOUT,
              .from = from,
              .to = to});
}

bool fabric::must_fail(const link& conn) {
    const auto found = failing_operation_.find({conn.from, conn.to});
    if (found != failing_operation_.end() && --found->second == 0) {
        failing_operation_.erase(found);
        return true;
    }
    return dice_.chance(network_.ep_failure);
}

void fabric::fail_links(const event& event_) {
    if (event_.conn != nullptr) {
        fail(event_.conn, event_.status);
        return;
    }
    if (event_.from >= nodes_.size()) return;
    for (const auto& [number, candidate] : nodes_[event_.from]->out) {
        if (candidate->to == event_.to && candidate->bound()) fail(candidate, event_.status);
    }
}

void fabric::fail(const link_ptr& conn, ucs_status_t status) {
    if (conn->owner == nullptr || conn->failure != UCS_OK || !nodes_[conn->from]->alive) return;
    fail_this_side(conn, status);
    if (network_.both_ways && nodes_[conn->to]->alive) fail_opposites(*conn);
}

void fabric::fail_this_side(const link_ptr& conn, ucs_status_t status) {
    node& sender = *nodes_[conn->from];
    if (conn->owner == nullptr || conn->failure != UCS_OK || !sender.alive) return;
    record(event_kind::ep_failed, *conn, static_cast<std::uint64_t>(status));
    conn->failure = status;
    lose_wire_tail(*conn);
    sender.due.push_back({due_item::kind::failure, conn, {}});
}

void fabric::end(const link_ptr& conn, ucs_status_t status) {
    fail_this_side(conn, UCS_ERR_CONNECTION_RESET);
    conn->wire.clear();
    conn->landing = false;
    for (; !conn->arrived.empty(); conn->arrived.pop_front())
        consumed_message(*nodes_[conn->to]);
    if (!conn->paired || !conn->partner) return;
    const auto partner = pairs_.find(*conn->partner);
    if (partner != pairs_.end()) fail_this_side(partner->second, status);
}

void fabric::fail_opposites(const link& conn) {
    for (const auto& [number, opposite] : nodes_[conn.to]->out) {
        if (opposite->to != conn.from || opposite->failure != UCS_OK) continue;
        if (conn.paired && opposite->partner != conn.number) continue;
        schedule({.when = now_ + travel_time(conn, 0),
                  .kind = action::fail,
                  .conn = opposite,
                  .status = UCS_ERR_CONNECTION_RESET});
    }
}

void fabric::lose_wire_tail(link& conn) {
    // A connection breaks at some byte; the messages before it still arrive.
    conn.wire.resize(dice_.below(conn.wire.size() + 1));
    for (const operation_ptr& message : conn.wire)
        message->gather();
    if (conn.landing && dice_.chance(0.5)) {
        node& target = *nodes_[conn.to];
        for (; !conn.arrived.empty(); conn.arrived.pop_front())
            consumed_message(target);
        conn.wire.clear();
        conn.landing = false;
    }
}

void fabric::kill_after(std::uint64_t worker_uid, ucs::time::nanoseconds delay) {
    schedule({.when = now_ + delay, .kind = action::die, .worker_uid = worker_uid});
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

void fabric::disconnect_worker(std::uint64_t worker_uid) {
    for (const auto& each : nodes_) {
        if (each->worker_uid != worker_uid || !(each->alive || each->killed)) continue;
        record(event_kind::node_cut, *each);
        each->alive = true;
        each->cut = true;
        for (const auto& [number, broken] : each->out) {
            if (!is_cut(*each, broken->to)) continue;
            // The worker may have died before the earlier failure of this endpoint was reported, so
            // it is reported again.
            if (each->killed && broken->failure != UCS_OK)
                each->due.push_back({due_item::kind::failure, broken, {}});
            fail_this_side(broken, UCS_ERR_ENDPOINT_TIMEOUT);
        }
        for (const auto& [number, broken] : each->in)
            if (is_cut(*nodes_[broken->from], each->id))
                fail_this_side(broken, UCS_ERR_ENDPOINT_TIMEOUT);
    }
}

// A worker can always reach itself.
bool fabric::is_cut(const node& from, node_id to) const noexcept {
    return (from.cut || nodes_[to]->cut) && from.worker_uid != nodes_[to]->worker_uid;
}

void fabric::leave(node& gone) {
    if (!gone.alive) return;
    record(event_kind::node_left, gone);
    lose_peers(gone);
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
                  .kind = action::fail,
                  .conn = towards,
                  .status = towards->paired ? UCS_ERR_ENDPOINT_TIMEOUT : UCS_ERR_CONNECTION_RESET});
    }
    // Links of destroyed endpoints: no node receives their last messages.
    std::erase_if(pairs_, [&gone](const auto& each) {
        return each.second->owner == nullptr && each.second->to == gone.id;
    });
}

}  // namespace uct::sim
