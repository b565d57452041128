// Endpoints by socket address as a feature of ucp/features.
#pragma once

#include "ucp/cm/manager.hpp"
#include "ucp/core/events.hpp"

namespace ucp::cm {

// Reactions to events of the core.
struct feature {
    static void on(const events::descriptors_polled& event) {
        if (manager* const made = slot_of<connections>(event.owner).manager.get())
            event.found += made->dispatch();
    }
    static void on(const events::work_sought& event) {
        const manager* const made = slot_of<connections>(event.owner).manager.get();
        if (made != nullptr && made->has_work()) event.found = true;
    }
    static void on(const events::endpoints_ended& event) {
        slot_of<connections>(event.owner).manager.reset();
    }
};

}  // namespace ucp::cm
