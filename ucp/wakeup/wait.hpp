// Waiting for work without keeping a processor busy.
#pragma once

#include "ucs/type/status.h"

namespace ucp {
class worker;
}

namespace ucp::wakeup {

// Returns when progress has something to do: spins for a moment, yields the processor in between,
// then sleeps. Calls no callbacks. Call without the worker's lock, which is taken for short
// moments.
ucs_status_t wait(worker& owner) noexcept;

// Returns when the byte at `address` has changed or progress has something to do, and otherwise
// soon, because a peer's write to memory causes no wakeup.
void wait_for_memory(worker& owner, const void* address) noexcept;

}  // namespace ucp::wakeup
