// Rendezvous as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/rndv/kept.hpp"
#include "ucp/rndv/rate_history.hpp"
#include "ucp/rndv/read_data.hpp"
#include "ucp/rndv/receiver.hpp"
#include "ucp/rndv/sender.hpp"

namespace ucp {

// Reactions to events of the core.
struct rndv_feature {
    static void on(const events::interface_opened& event) {
        rndv_listen(event.owner, event.iface);
        rndv_listen_replies(event.owner, event.iface);
    }
    static void on(const events::message_dropped& event) {
        event.drop_if(rndv_is_read, rndv_drop_read);
    }
    static void on(const events::peer_lost& event) {
        slot_of<kept_operations>(event.lost).end_receives();
    }
    static void on(const events::peer_ended& event) {
        slot_of<kept_operations>(event.ending).end_receives();
    }
    static void on(const events::messages_lost& event) {
        auto& list = slot_of<unexpected_rts_messages>(event.endpoint).list;
        while (!list.empty()) {
            unexpected_rts& lost = list.front();
            lost.sender_hook.unlink();
            lost.lost(event.endpoint.owner(), event.endpoint, lost);
        }
    }
    static void on(const events::receives_lost& event) {
        auto& receives = event.endpoint.operations().receives();
        while (!receives.empty())
            abort_receive(receives.front(), event.status);
    }
};

}  // namespace ucp
