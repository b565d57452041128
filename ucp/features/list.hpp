// The one list of features, of the slots in which they keep their state, and of the events.
#pragma once

#include "ucp/am/feature.hpp"
#include "ucp/cm/feature.hpp"
#include "ucp/core/events.hpp"
#include "ucp/eager/feature.hpp"
#include "ucp/proto/feature.hpp"
#include "ucp/rma/feature.hpp"
#include "ucp/rndv/feature.hpp"
#include "ucp/staging/feature.hpp"
#include "ucp/stream/feature.hpp"
#include "ucp/tag/feature.hpp"
#include "ucp/wakeup/feature.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/feature.hpp"

namespace ucp::features {

template<class... Each>
struct list {};

// Features in the order in which events are delivered. The operations of a peer that ends are over
// before wireup closes its lanes.
using all =
    list<staging_feature, proto_feature, eager_feature, rndv_feature, wireup::feature, rma_feature,
         tag_feature, am_feature, stream_feature, cm::feature, wakeup::feature>;

// Slots in the order in which they are placed. The parameter of its constructor tells whether a
// slot belongs to a worker, a peer or an endpoint.
using slots =
    list<short_path, wireup::ep_connection, owed_replies, access_order, partial_messages,
         unexpected_rts_messages, ep_stream, striped_transfers, eager_credits, kept_operations,
         deferred_sends, wireup::pairing, wireup::lane_setup, peer_arriving, peer_unread,
         request_ids, protocol_tables, wireup::requests, wireup::refusals, assembler, rndv_rates,
         device_copies, tag_matcher, am_receiver, worker_streams, cm::connections, wakeup::idling>;

// All events. publish() exists for these.
using published = list<
    events::interface_opened, events::worker_opened, events::slow_progress_began,
    events::slow_progress_ended, events::worker_described, events::credits_sought,
    events::credits_requested, events::sends_deferred, events::descriptors_polled,
    events::everything_polled, events::lane_failed, events::peer_resumed, events::address_given,
    events::claim_confirmed, events::peer_probed, events::peer_failed, events::peer_lost,
    events::peer_ended, events::endpoint_attached, events::endpoint_detached, events::peer_unused,
    events::peer_destroyed, events::work_sought, events::endpoints_ended, events::worker_idle,
    events::limits_checked, events::ownership_changed, events::peer_changed, events::messages_lost,
    events::incoming_ended, events::peer_closed, events::closing_flush_began, events::closed_unread,
    events::operation_ended, events::message_dropped, events::endpoint_ended,
    events::endpoint_abandoned, events::connection_sought, events::closing_flush_ended,
    events::receives_lost, events::fences_checked, events::waiting_send_found,
    events::operation_lost, events::operations_aborted, events::confirmations_sought,
    events::flush_began, events::flush_checked, events::flush_ended>;

}  // namespace ucp::features
