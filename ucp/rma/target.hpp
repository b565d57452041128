// Carrying out what peers ask of the memory that is registered here.
#pragma once

#include "uct/api/iface.hpp"

namespace ucp {

class worker;

// Registers the handlers of put, get, atomic and confirm.
void rma_listen(worker& owner, uct::iface& on);

// Registers the handlers of what the owner of memory answers to ours.
void rma_listen_answers(worker& owner, uct::iface& on);

}  // namespace ucp
