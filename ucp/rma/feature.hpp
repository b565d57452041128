// Access to remote memory as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/rma/target.hpp"

namespace ucp {

// Reactions to events of the core.
struct rma_feature {
    static void on(const events::interface_opened& event) {
        rma_listen(event.owner, event.iface);
        rma_listen_replies(event.owner, event.iface);
    }
};

}  // namespace ucp
