// Tagged messages as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/tag/matcher.hpp"

namespace ucp {

// Reactions to events of the core.
struct tag_feature {
    static void on(const events::interface_opened& event) {
        slot_of<tag_matcher>(event.owner).listen(event.iface);
        flow_listen(event.owner, event.iface);
    }
    static void on(const events::slow_progress_began& event) {
        tag_matcher& matcher = slot_of<tag_matcher>(event.owner);
        if (matcher.memory().is_overfull()) matcher.relieve();
    }
    static void on(const events::slow_progress_ended& event) {
        if (slot_of<tag_matcher>(event.owner).memory().is_overfull()) event.again = true;
    }
    static void on(const events::credits_sought& event) noexcept {
        event.granted = slot_of<tag_matcher>(event.owner).memory().can_grant();
    }
    static void on(const events::credits_requested& event) { send_credit_request(event.over); }
    static void on(const events::sends_deferred& event) noexcept {
        slot_of<tag_matcher>(event.sender.owner()).memory().add_deferring(event.sender);
    }
    static void on(const events::worker_described& event) {
        slot_of<tag_matcher>(event.owner).describe(event.counts, event.details);
    }
};

}  // namespace ucp
