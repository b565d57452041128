// Access to remote memory as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/rma/order.hpp"
#include "ucp/rma/target.hpp"

namespace ucp {

// Reactions to events of the core.
struct rma_feature {
    static void on(const events::interface_opened& event) {
        rma_listen(event.owner, event.iface);
        rma_listen_replies(event.owner, event.iface);
    }
    static void on(const events::fences_checked& event) { pass_fences(event.endpoint); }
    static void on(const events::waiting_send_found& event) {
        if (is_behind_fence(event.waiting)) event.allowed = false;
    }
    static void on(const events::operation_lost& event) { note_lost(event.endpoint, event.status); }
    static void on(const events::operations_aborted& event) { forget_remote(event.endpoint); }
    static void on(const events::confirmations_sought& event) {
        const remote_tracker* const tracker = slot_of<access_order>(event.endpoint).tracker.get();
        if (tracker == nullptr) return;
        if (!tracker->all_confirmed()) event.unconfirmed = true;
        if (tracker->copied || tracker->outcome != UCS_OK) event.unreported = true;
    }
    static void on(const events::flush_began& event) {
        if (!await_copied(event.endpoint)) event.possible = false;
    }
    static void on(const events::flush_checked& event) {
        if (!is_confirmed(event.endpoint, event.flush)) event.confirmed = false;
    }
    static void on(const events::flush_ended& event) {
        event.outcome = take_outcome(event.endpoint);
    }
};

}  // namespace ucp
