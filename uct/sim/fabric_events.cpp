// Processing of the fabric's events.
#include "uct/sim/fabric.hpp"

namespace uct::sim {

void fabric::schedule(event event_) {
    // Events with equal times are ordered at random. Arrivals of one link never have equal times.
    constexpr unsigned counter_bits = 24;
    event_.order = (dice_.next() << counter_bits) | (next_order_++ & ((1U << counter_bits) - 1));
    events_.push(std::move(event_));
}

void fabric::happen(event& event_) {
    switch (event_.kind) {
        case action::connect:
            record(event_kind::connected, *event_.conn);
            nodes_[event_.conn->from]->due.push_back({due_item::kind::connected, event_.conn, {}});
            break;
        case action::arrive:
            arrive(event_.conn);
            break;
        case action::access:
            access(event_.conn, event_.op);
            break;
        case action::complete:
            complete(event_.conn, event_.op);
            break;
        case action::fail:
            fail_links(event_);
            break;
        case action::die:
            kill(event_.worker_uid);
            break;
        case action::wake:
            record(event_kind::woken, *event_.conn);
            break;
    }
}

void fabric::arrive(const link_ptr& conn) {
    if (conn->wire.empty()) return;  // lost with its link
    node& target = *nodes_[conn->to];
    if (conn->paired && target.alive && !arrives_at_partner(conn)) return;
    if (target.alive && target.queued_messages >= network_.rx_queue) {
        record(event_kind::held_back, *conn, target.queued_messages);
        target.held_back.push_back(conn);
        return;
    }
    const operation_ptr message = conn->wire.front();
    conn->wire.pop_front();
    if (!target.alive) {
        // The operation does not end at the sender; the failure of the link ends it.
        record(event_kind::dropped, *conn, message->serial);
        return;
    }
    if (message->first != nullptr) {
        access(conn, message->first);
        if (!message->first->served) return;  // the message is lost, too
    }
    record(event_kind::arrived, *conn, message->serial);
    if (message->kind == op_kind::goodbye) {
        take_goodbye(*conn);
        return;
    }
    if (message->kind == op_kind::probe) {
        complete_soon(conn, message);
        return;
    }
    message->gather();
    conn->arrived.push_back(message);
    ++target.queued_messages;
    target.due.push_back({due_item::kind::message, conn, {}});
    complete_soon(conn, message);
}

void fabric::access(const link_ptr& conn, const operation_ptr& op) {
    // Memory is accessed only while the operation is in flight. After its end, or after the death
    // of a side, the owner of the memory may reuse it.
    if (!conn->in_flight(*op) || !nodes_[conn->to]->alive || !nodes_[conn->from]->alive) {
        record(event_kind::dropped, *conn, op->serial);
        return;
    }
    if (!conn->paired) op->access_remote();
    if (conn->paired && !serve(conn, op)) return;
    op->served = true;
    record(event_kind::remote_access, *conn, op->serial);
    complete_soon(conn, op);
}

void fabric::complete_soon(const link_ptr& conn, const operation_ptr& op) {
    schedule({.when = now_ + dice_.between(0, network_.max_completion_delay),
              .kind = action::complete,
              .conn = conn,
              .op = op});
}

void fabric::complete(const link_ptr& conn, const operation_ptr& op) {
    node& sender = *nodes_[conn->from];
    if (!sender.alive || conn->owner == nullptr) return;
    if (conn->paired && conn->failure == UCS_OK && conn->in_flight(*op)) op->take_result();
    sender.due.push_back({due_item::kind::completion, conn, op});
}

}  // namespace uct::sim
