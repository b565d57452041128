// Arriving bytes and credits of streams.
#pragma once

#include "uct/api/iface.hpp"

namespace ucp {

class worker;

// Registers the handlers.
void stream_listen(worker& owner, uct::iface& on);

}  // namespace ucp
