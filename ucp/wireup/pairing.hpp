// Connecting a peer whose lanes come in pairs with ours.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ucp/mem/device_domains.hpp"
#include "ucp/rma/rail_share.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "ucs/time/clock.hpp"
#include "uct/api/ep.hpp"

namespace ucp::wireup {

// A transport endpoint to a peer, and whose.
struct lane {
    std::unique_ptr<uct::ep> endpoint;
    std::size_t resource = 0;
    std::uint8_t device = mem::no_device;  // of the peer's, in its keys to memory
    ucp::rail_share share{};               // of long transfers over several rails
};

// Some transports (attr().connection_length > 0) carry nothing before two endpoints have been told
// of each other. Who connects first makes its own and asks, over a bootstrap lane; who is asked
// makes the other half and answers. When both ask, the question of the smaller uid counts. The
// asker says over the new lane that it stands, and only then the other side sends: before, what it
// sends could arrive too early, and wait for a retransmission. Then the bootstrap lane is closed.
//
//   asker     asked ----------------> joined
//   asked         \-pair-> answered      \-joined-> joined
//                          \-paired-/
//
// Part of a peer; ucp/core/peer_pairing.cpp does the work.
struct pairing {
    enum class step : std::uint8_t {
        asked,     // we wait for the answer
        answered,  // we wait for the first message over the lane
        joined,    // it may be used
        refusing,  // there are no lanes, only somebody who is to hear so
    };
    using held_list =
        ucs::datastruct::list<uct::pending_request, &uct::pending_request::pending_hook>;

    step at;
    std::uint64_t attempt;           // chosen at random by the asker
    lane bootstrap;                  // until joined
    std::vector<std::byte> said;     // question or answer, to be repeated
    ucs::time::nanoseconds said_at;  // last time
    held_list held;                  // control messages that wait until the lanes are joined
    // Nobody else may want the peer before the first endpoint, which may never come: the asker can
    // be gone, and with it its word that the lanes are joined.
    bool keeps_peer = false;
    unsigned looks = 0;  // of the keepalive, meanwhile
    // The other side has joined the lanes, or left them: it notices that they are over.
    bool aware = false;
    bool missed = false;  // something that it said over other lanes was dropped
    // A question that came while the lanes are in use: of a new partner, if the old one is gone.
    struct question {
        wire::wireup_header header;
        std::vector<std::byte> body;
    };
    std::unique_ptr<question> next;
};

}  // namespace ucp::wireup
