// Handlers of arriving bytes and credits of streams.
#pragma once

#include "uct/api/iface.hpp"

namespace ucp {

class ep;
class worker;

// Registers the handlers.
void stream_listen(worker& owner, uct::iface& iface);

// Call when the program has closed the endpoint and reads no more, while its own sends have not
// ended. The message keeps the peer from waiting for credits; this side may be waiting for
// the peer.
void stream_notify_no_reader(ep& closing);

}  // namespace ucp
