// Connection set-up of paired lanes: exchange of connection data over a bootstrap lane.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ucp/core/rail_share.hpp"
#include "ucp/mem/device_domains.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "ucs/time/clock.hpp"
#include "uct/api/ep.hpp"

namespace ucp::wireup {

// A transport endpoint to a peer.
struct lane {
    std::unique_ptr<uct::ep> endpoint;
    std::size_t resource = 0;
    std::uint8_t device = mem::no_device;  // number by which the peer's keys name its device
    ucp::rail_share share{};               // this lane's part of long transfers over several rails
};

enum class pairing_state : std::uint8_t {
    requested,  // the requester waits for the reply
    replied,    // the responder waits for `joined`
    joined,     // the lanes may be used
    refusing,   // there are no lanes; the bootstrap lane carries refusals only
};

// Some transports (attr().connection_length > 0) carry nothing before two endpoints know each
// other's connection data, as the queue pairs of RDMA devices. The requester makes its endpoint and
// sends a pair request over a bootstrap lane. The responder makes the other endpoint and replies.
// If both sides send a request, the request of the worker with the smaller uid counts. The
// requester confirms with `joined` over the new lane, and only then the responder sends over it: a
// message sent before could arrive too early and wait for a retransmission. Then both close the
// bootstrap lane.
//
//   requester   requested -----------------> joined
//   responder           \-pair-> replied          \-joined-> joined
//                                \-paired-/
//
// Part of a peer; ucp/core/peer_pairing.cpp implements the protocol.
struct pairing {
    using held_list =
        ucs::datastruct::list<uct::pending_request, &uct::pending_request::pending_hook>;

    pairing_state state;
    std::uint64_t attempt;           // chosen at random by the requester
    lane bootstrap;                  // until joined
    std::vector<std::byte> message;  // pair request or reply, kept to be repeated
    ucs::time::nanoseconds sent_at;  // time of the last sending
    held_list held;                  // control messages that wait until the lanes are joined
    // The pairing holds a reference to the peer: no endpoint may use the peer yet, and none may
    // ever do so if the requester is gone.
    bool holds_peer = false;
    unsigned checks = 0;  // probes of the keepalive while the responder waits
    // The peer has joined the lanes or left them, so it notices by itself that they end.
    bool peer_notices_end = false;
    bool has_dropped_message =
        false;  // a connection message that the peer sent over other lanes was dropped
    // A pair request that arrived while the lanes are in use. It is served if they turn out to be
    // gone.
    struct postponed_request {
        wire::wireup_header header;
        std::vector<std::byte> body;
    };
    std::unique_ptr<postponed_request> postponed;
};

}  // namespace ucp::wireup
