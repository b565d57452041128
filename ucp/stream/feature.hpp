// Byte streams as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/stream/arrivals.hpp"
#include "ucp/stream/endpoint.hpp"
#include "ucp/wireup/connection.hpp"

namespace ucp {

// Reactions to events of the core.
struct stream_feature {
    static void on(const events::interface_opened& event) {
        stream_listen(event.owner, event.iface);
    }
    static void on(const events::limits_checked& event) {
        event.failed += event.owner.limits().fail_for_limit(
            slot_of<worker_streams>(event.owner).unread,
            [](const peer& each) -> const limit_share& { return slot_of<peer_unread>(each).share; },
            "has sent streams to endpoints that the program has not asked for");
    }
    static void on(const events::ownership_changed& event) {
        stream_channel* const opened = opened_stream_of(event.endpoint);
        if (opened == nullptr) return;
        if (!wireup::is_uninvited(event.endpoint)) opened->end_uninvited();
        if (event.endpoint.program().is_owner()) {
            opened->show_ready();
        } else {
            opened->ready_hook.unlink();
        }
    }
    static void on(const events::incoming_ended& event) {
        if (stream_channel* const opened = opened_stream_of(event.endpoint))
            opened->end_receives(event.status);
    }
    static void on(const events::peer_closed& event) { note_reader_gone(event.endpoint); }
    static void on(const events::closing_flush_began& event) {
        if (wireup::state_of(event.endpoint) == wireup::state::ready) stop_reading(event.endpoint);
    }
    static void on(const events::closed_unread& event) {
        if (stream_channel* const opened = opened_stream_of(event.endpoint)) opened->drop_stored();
    }
    static void on(const events::operation_ended& event) {
        if (stream_channel* const opened = opened_stream_of(event.endpoint)) opened->sends.resume();
    }
};

}  // namespace ucp
