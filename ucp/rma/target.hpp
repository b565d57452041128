// Handlers that carry out what peers request on memory registered here.
#pragma once

#include "uct/api/iface.hpp"

namespace ucp {

class worker;

// Registers the handlers of put, get, atomic and confirm.
void rma_listen(worker& owner, uct::iface& iface);

// Registers the handlers of replies to this worker's own requests.
void rma_listen_replies(worker& owner, uct::iface& iface);

}  // namespace ucp
