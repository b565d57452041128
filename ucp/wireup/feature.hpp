// Connecting as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/wireup/messages.hpp"
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
        event.to.setup().lane_failed(event.lane, event.status);
    }
    static void on(const events::peer_resumed& event) { event.ready.setup().connect_handed_over(); }
    // The lanes of the peer's end may have to be closed, or a request of it was postponed.
    static void on(const events::peer_unused& event) {
        event.is_needed = event.unused.pairing().notify_before_destruction();
        if (event.is_needed) return;
        slot_of<requests>(event.unused.owner()).postponed = event.unused.pairing().take_postponed();
    }
    static void on(const events::peer_destroyed& event) {
        const auto postponed = std::move(slot_of<requests>(event.owner).postponed);
        if (postponed != nullptr) answer_postponed(event.owner, *postponed);
    }
};

}  // namespace ucp::wireup
