// Connecting as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucp/wireup/messages.hpp"
#include "ucp/wireup/pairing.hpp"
#include "ucp/wireup/refusals.hpp"
#include "ucp/wireup/requests.hpp"

namespace ucp::wireup {

// Reactions to events of the core.
struct feature {
    static void on(const events::interface_opened& event) { listen(event.owner, event.iface); }
    static void on(const events::worker_opened& event) {
        event.status = check_message_sizes(event.owner);
    }
    static void on(const events::lane_failed& event) {
        slot_of<lane_setup>(event.to).lane_failed(event.lane, event.status);
    }
    static void on(const events::peer_resumed& event) {
        slot_of<lane_setup>(event.ready).connect_handed_over();
    }
    static void on(const events::address_given& event) {
        slot_of<lane_setup>(event.known).readdress(event.packed);
    }
    static void on(const events::claim_confirmed& event) {
        slot_of<lane_setup>(event.claimed).hand_over_waiting(event.given);
    }
    static void on(const events::peer_probed& event) {
        slot_of<pairing>(event.probed).handle(pairing_event::probe);
    }
    static void on(const events::endpoint_attached& event) {
        slot_of<pairing>(event.to).release_reference();
    }
    static void on(const events::peer_failed& event) {
        for (ep& each : event.failing.endpoints())
            handle(each, wireup::event::failure, event.status);
    }
    static void on(const events::peer_lost& event) {
        slot_of<pairing>(event.lost).release_reference();
    }
    static void on(const events::peer_ended& event) {
        slot_of<lane_setup>(event.ending).disconnect();
    }
    static void on(const events::peer_unused& event) {
        pairing& end = slot_of<pairing>(event.unused);
        event.is_needed = end.notify_before_destruction();
        if (event.is_needed) return;
        slot_of<requests>(event.unused.owner()).postponed = end.take_postponed();
    }
    static void on(const events::peer_destroyed& event) {
        const auto postponed = std::move(slot_of<requests>(event.owner).postponed);
        if (postponed != nullptr) answer_postponed(event.owner, *postponed);
    }
    // Direct loads and stores need no connection, and operations that need one are among the sends.
    // Programs flush an endpoint by socket address to learn that the server accepted it.
    static void on(const events::connection_sought& event) {
        if (state_of(event.endpoint) == state::requested &&
            (event.closes || socket_of(event.endpoint) != nullptr))
            event.waits = true;
    }
    static void on(const events::closing_flush_ended& event) { close_flushed(event.endpoint); }
    static void on(const events::endpoint_abandoned& event) {
        detach(event.endpoint);
        abort_for_destruction(event.endpoint);
    }
    static void on(const events::endpoint_ended& event) { end_connection(event.endpoint); }
    static void on(const events::message_dropped& event) {
        event.drop_if(is_final_message, drop_final_message);
    }
};

}  // namespace ucp::wireup
