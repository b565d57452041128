// An interface that datagrams go to or come from.
#pragma once

#include <memory>

#include "uct/ib/ud/base/wire.hpp"

namespace uct::ud {

class receiver;

// One for all connections with that interface, in both directions. Shared by them; owner context.
struct peer {
    wire::address where;
    std::shared_ptr<ibv_ah> way;
    // Payload of one datagram that both sides take.
    std::size_t payload = 0;
    // A connection from there whose packets are not acknowledged, if there is one: the next
    // datagram to the peer does it on the way.
    receiver* owed = nullptr;
};

}  // namespace uct::ud
