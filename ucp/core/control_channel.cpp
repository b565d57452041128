#include "ucp/core/control_channel.hpp"

#include "ucp/core/events.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

bool control_channel::send(uct::am_id id, std::span<const std::byte> header,
                           std::span<const std::byte> body, control_sender sender) noexcept {
    if (!to_.lanes().is_open() || !is_sent_) {
        sender.end(to_.owner());
        return true;
    }
    if (is_open_) [[likely]]
        return send_over(to_.lanes().am(), {id, header, body, sender});
    uct::pending_request* const held = control_message::hold(to_, {id, header, body, sender});
    if (held == nullptr) return lose({id, header, body, sender});
    held_.push_back(*held);
    return true;
}

bool control_channel::send_over(uct::ep& over, const control_message::content& message) noexcept {
    return control_message::send(to_, over, message) || lose(message);
}

bool control_channel::lose(const control_message::content& message) noexcept {
    message.sender.end(to_.owner());
    if (has_lost_) return false;
    has_lost_ = true;
    ucs::log::error(proto_log,
                    "out of memory: a control message ({}) to worker {:x} is lost, its endpoints "
                    "fail",
                    name_of(message.id), to_.uid());
    to_.owner().postponed().fail_later(to_);
    return false;
}

// All other messages that wait on the lanes belong to operations, which their endpoints end. A data
// request that has not left is no reason to wait for the peer: its receive ends with the endpoint.
void control_channel::end_for_limit() {
    end();
    has_passed_limit_ = true;
    message_list dropped;
    for (const lane* each : {&to_.lanes().message, &to_.lanes().bootstrap}) {
        if (!each->is_open()) continue;
        message_list queued;
        take_queue(*each->endpoint, queued);
        while (!queued.empty()) {
            uct::pending_request& next = queued.front();
            queued.pop_front();
            if (control_message::is_control(next)) {
                dropped.push_back(next);
            } else {
                each->endpoint->pending_add(next);
            }
        }
    }
    dropped.splice(dropped.end(), held_);
    // Ending a receive may call the program, so the lists are complete before.
    while (!dropped.empty()) {
        uct::pending_request& next = dropped.front();
        dropped.pop_front();
        control_message::drop(next, true);
    }
}

// Without a lane no message waits.
bool control_channel::has_room_for_strangers() const noexcept {
    constexpr std::size_t most_waiting = 256;
    std::size_t waiting = held_.size();
    for (const lane* each : {&to_.lanes().message, &to_.lanes().bootstrap})
        waiting += each->is_open() ? each->endpoint->sent().queued : 0;
    return waiting < most_waiting;
}

void control_channel::drop_waiting() noexcept {
    for (const lane* each : {&to_.lanes().message, &to_.lanes().bootstrap}) {
        if (each->is_open()) each->endpoint->pending_purge(drop, nullptr);
    }
    drop_all(held_);
}

// Sends are ended by their endpoints, which list them as well.
void control_channel::drop(uct::pending_request& queued, void*) {
    if (control_message::is_control(queued)) {
        control_message::drop(queued);
    } else {
        bool is_dropped = false;
        publish(events::message_dropped{queued, is_dropped});
    }
}

void control_channel::drop_all(message_list& all) {
    while (!all.empty()) {
        uct::pending_request& held = all.front();
        all.pop_front();
        drop(held, nullptr);
    }
}

void control_channel::release_all(message_list& all, uct::ep& over) noexcept {
    while (!all.empty()) {
        uct::pending_request& held = all.front();
        all.pop_front();
        control_message::release(held, over);
    }
}

void control_channel::take_queue(uct::ep& from, message_list& into) noexcept {
    from.pending_purge([](uct::pending_request& queued,
                          void* list) { static_cast<message_list*>(list)->push_back(queued); },
                       &into);
}

}  // namespace ucp
