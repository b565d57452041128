// What happens on a fabric when an event's time has come.
#include "uct/sim/fabric.hpp"

namespace uct::sim {

void fabric::schedule(event what) {
    // Equal times are ordered at random; arrivals of one link never have equal times.
    constexpr unsigned counter_bits = 24;
    what.order = (dice_.next() << counter_bits) | (next_order_++ & ((1U << counter_bits) - 1));
    events_.push(std::move(what));
}

void fabric::happen(event& what) {
    switch (what.what) {
        case action::connect:
            record(event_kind::connected, *what.on);
            nodes_[what.on->from]->due.push_back({due_item::kind::connected, what.on, {}});
            break;
        case action::arrive:
            arrive(what.on);
            break;
        case action::access:
            access(what.on, what.which);
            break;
        case action::complete:
            complete(what.on, what.which);
            break;
        case action::fail:
            fail_links(what);
            break;
        case action::die:
            kill(what.worker_uid);
            break;
        case action::wake:
            record(event_kind::woken, *what.on);
            break;
    }
}

void fabric::arrive(const link_ptr& on) {
    if (on->wire.empty()) return;  // lost with its link
    node& target = *nodes_[on->to];
    if (on->paired && target.alive && !arrives_at_partner(on)) return;
    if (target.alive && target.queued_messages >= network_.rx_queue) {
        record(event_kind::held_back, *on, target.queued_messages);
        target.held_back.push_back(on);
        return;
    }
    const operation_ptr message = on->wire.front();
    on->wire.pop_front();
    if (!target.alive) {
        // It does not end at the sender either: the failure of the link will tell.
        record(event_kind::dropped, *on, message->serial);
        return;
    }
    if (message->first != nullptr) {
        access(on, message->first);
        if (!message->first->served) return;  // lost as well
    }
    record(event_kind::arrived, *on, message->serial);
    if (message->kind == op_kind::goodbye) {
        arrived_goodbye(*on);
        return;
    }
    if (message->kind == op_kind::nothing) {
        complete_soon(on, message);
        return;
    }
    message->gather();
    on->arrived.push_back(message);
    ++target.queued_messages;
    target.due.push_back({due_item::kind::message, on, {}});
    complete_soon(on, message);
}

void fabric::access(const link_ptr& on, const operation_ptr& which) {
    // Memory is touched only while the operation is in flight: whoever was told of its end, or
    // died, has the memory back.
    if (!on->in_flight(*which) || !nodes_[on->to]->alive || !nodes_[on->from]->alive) {
        record(event_kind::dropped, *on, which->serial);
        return;
    }
    if (!on->paired) which->access_remote();
    if (on->paired && !serve(on, which)) return;
    which->served = true;
    record(event_kind::remote_access, *on, which->serial);
    complete_soon(on, which);
}

void fabric::complete_soon(const link_ptr& on, const operation_ptr& which) {
    schedule({.when = now_ + dice_.between(0, network_.max_completion_delay),
              .what = action::complete,
              .on = on,
              .which = which});
}

void fabric::complete(const link_ptr& on, const operation_ptr& which) {
    node& sender = *nodes_[on->from];
    if (!sender.alive || on->owner == nullptr) return;
    if (on->paired && on->failure == UCS_OK && on->in_flight(*which)) which->take_answer();
    sender.due.push_back({due_item::kind::completion, on, which});
}

}  // namespace uct::sim
