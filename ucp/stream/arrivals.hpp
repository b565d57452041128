// Arriving bytes and credits of streams.
#pragma once

#include "uct/api/iface.hpp"

namespace ucp {

class ep;
class worker;

// Registers the handlers.
void stream_listen(worker& owner, uct::iface& on);

// The program has closed and reads no more of this endpoint, but its own sends have not ended: the
// peer must not wait for it, which may be waiting for the peer.
void stream_tell_no_reader(ep& closing);

}  // namespace ucp
