// Active messages as a feature of ucp/features.
#pragma once

#include "ucp/am/receiver.hpp"
#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/eager/assembler.hpp"

namespace ucp {

// Reactions to events of the core.
struct am_feature {
    static void on(const events::interface_opened& event) {
        slot_of<am_receiver>(event.owner).listen(event.iface);
    }
    static void on(const events::worker_opened& event) {
        slot_of<am_receiver>(event.owner).limit_headers();
    }
    // A peer that knows the endpoint's id may have sent messages before its identity was proven;
    // they count for the new peer object.
    static void on(const events::peer_changed& event) {
        am_receiver& receiver = slot_of<am_receiver>(event.endpoint.owner());
        for (const assembly& each : slot_of<partial_messages>(event.endpoint).list)
            receiver.charge_to(event.to, each);
        for (const request& each : event.endpoint.operations().receives())
            receiver.charge_to(event.to, each);
    }
};

}  // namespace ucp
