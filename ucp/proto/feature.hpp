// The choice of protocols as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/core/peer.hpp"
#include "ucp/proto/request_ids.hpp"
#include "ucp/proto/tables.hpp"

namespace ucp {

// Reactions to events of the core.
struct proto_feature {
    static void on(const events::everything_polled& event) {
        slot_of<protocol_tables>(event.owner).update_if_outdated();
    }
    static void on(const events::peer_resumed& event) {
        auto& striped = event.ready.striped;
        for (auto next = striped.begin(); next != striped.end();)
            (next++)->resume();
        event.ready.deferred().resume();
    }
};

}  // namespace ucp
