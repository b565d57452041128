// The one list of features and of the slots in which they keep their state.
#pragma once

#include "ucp/am/feature.hpp"
#include "ucp/cm/feature.hpp"
#include "ucp/eager/feature.hpp"
#include "ucp/proto/feature.hpp"
#include "ucp/rma/feature.hpp"
#include "ucp/rndv/feature.hpp"
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
using all = list<proto_feature, eager_feature, rndv_feature, wireup::feature, rma_feature,
                 tag_feature, am_feature, stream_feature, cm::feature, wakeup::feature>;

// Slots in the order in which they are placed. The parameter of its constructor tells whether a
// slot belongs to a worker, a peer or an endpoint.
using slots =
    list<short_path, wireup::ep_connection, owed_replies, access_order, partial_messages,
         unexpected_rts_messages, ep_stream, striped_transfers, eager_credits, kept_operations,
         deferred_sends, wireup::pairing, wireup::lane_setup, peer_arriving, peer_unread,
         request_ids, protocol_tables, wireup::requests, wireup::refusals, assembler, rndv_rates,
         tag_matcher, am_receiver, worker_streams, cm::connections, wakeup::idling>;

}  // namespace ucp::features
