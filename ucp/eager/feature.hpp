// Messages in fragments as a feature of ucp/features.
#pragma once

#include "ucp/core/ep.hpp"
#include "ucp/core/events.hpp"
#include "ucp/eager/assembler.hpp"

namespace ucp {

// Reactions to events of the core.
struct eager_feature {
    static void on(const events::interface_opened& event) {
        slot_of<assembler>(event.owner).listen(event.iface);
    }
    static void on(const events::messages_lost& event) {
        slot_of<assembler>(event.endpoint.owner()).forget_sender(event.endpoint);
    }
};

}  // namespace ucp
