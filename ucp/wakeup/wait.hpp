// Waiting for something to do without keeping a processor busy.
#pragma once

#include "ucs/type/status.h"

namespace ucp {
class worker;
}

namespace ucp::wakeup {

// Returns when progress has something to do: looks for a moment, yields the processor in between,
// then sleeps. Calls nobody back. Called without the worker's lock, which is taken for moments.
ucs_status_t wait(worker& owner) noexcept;

// Returns when the byte at `address` changed or progress has something to do, or soon anyway:
// memory that a peer writes to wakes nobody.
void wait_for_memory(worker& owner, const void* address) noexcept;

}  // namespace ucp::wakeup
