// What a worker counts.
#pragma once

#include <array>
#include <string_view>

#include "ucs/stats/counters.hpp"

namespace ucp {

// Events that tell how messages move and what goes wrong, shown in the object tree under
// "counters". None of them lies on the path of a small message that has its receive.
enum class activity {
    ep_creations,          // by the program or for a peer
    ep_creation_failures,  // the program asked for one and got an error
    ep_closures,           // the program closed one
    ep_failures,
    lost_connections,  // to peers that had endpoints
    stored_messages,   // came before their receive
    reads,             // rendezvous: memory of a peer was read
    splits,            // rendezvous: half of it was read, half written by the sender
    writes,            // rendezvous: the sender's device wrote it
    streams,           // rendezvous: the sender was asked to stream
    held_senders,      // messages to a peer must be announced, because it has no room
    deferred_sends,    // tag sends that waited, because the peer takes no more announcements
    asked_for_more,  // senders that defer what they have, because a receive or probe found nothing
    refused_reads,   // peers whose memory the system does not let us read
};

}  // namespace ucp

template<>
inline constexpr auto ucs::stats::names<ucp::activity> = std::to_array<std::string_view>(
    {"ep_creations", "ep_creation_failures", "ep_closures", "ep_failures", "lost_connections",
     "stored_messages", "reads", "splits", "writes", "streams", "held_senders", "deferred_sends",
     "asked_for_more", "refused_reads"});

namespace ucp {
using activity_counters = ucs::stats::counters<activity>;
}  // namespace ucp
