// Copies from and to memory of devices as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/staging/device_copies.hpp"

namespace ucp {

// Reactions to events of the core.
struct staging_feature {
    // Requests that wait for their copies end before the worker does.
    static void on(const events::endpoints_ended& event) {
        slot_of<device_copies>(event.owner).drain();
    }
};

}  // namespace ucp
