// The choice of protocols as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/proto/credits.hpp"
#include "ucp/proto/deferred_sends.hpp"
#include "ucp/proto/request_ids.hpp"
#include "ucp/proto/short_path.hpp"
#include "ucp/proto/striped.hpp"
#include "ucp/proto/tables.hpp"

namespace ucp {

// Reactions to events of the core.
struct proto_feature {
    static void on(const events::everything_polled& event) {
        slot_of<protocol_tables>(event.owner).update_if_outdated();
    }
    static void on(const events::endpoint_detached& event) {
        slot_of<eager_credits>(event.from).forget(event.gone);
    }
    static void on(const events::peer_changed& event) {
        slot_of<short_path>(event.endpoint).move_to(event.to);
    }
    static void on(const events::peer_resumed& event) {
        auto& striped = slot_of<striped_transfers>(event.ready).list;
        for (auto next = striped.begin(); next != striped.end();)
            (next++)->resume();
        slot_of<deferred_sends>(event.ready).resume();
    }
    static void on(const events::message_dropped& event) {
        event.drop_if(striped_access::is_chunk, striped_access::drop);
    }
};

}  // namespace ucp
