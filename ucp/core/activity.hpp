// Event counters of a worker.
#pragma once

#include <array>
#include <string_view>

#include "ucs/stats/counters.hpp"

namespace ucp {

// Events that show how messages move and what goes wrong, listed in the object tree under
// "counters". None of them lies on the path of a small message whose receive is posted.
enum class activity {
    ep_creations,          // by the program or for a peer
    ep_creation_failures,  // the program's request failed
    ep_closures,           // by the program
    ep_failures,
    lost_connections,  // to peers that had endpoints
    stored_messages,   // came before their receive
    reads,             // rendezvous: memory of a peer was read
    splits,            // rendezvous: one half was read, the sender wrote the other
    writes,            // rendezvous: the sender's device wrote the data
    streams,           // rendezvous: the sender was asked to stream
    held_senders,      // a peer has no credits: messages to it begin with an RTS
    deferred_sends,    // tagged sends that waited, because the peer takes no more RTS messages
    asked_for_more,  // senders of deferred messages that were asked for more, because a receive or
                     // probe found nothing
    refused_reads,   // peers whose memory the system does not let this process read
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
