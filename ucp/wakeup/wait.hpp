// Waiting for work without keeping a processor busy.
#pragma once

#include <atomic>

#include "ucp/core/slots.hpp"
#include "ucp/wakeup/spin_budget.hpp"
#include "ucp/wakeup/yield_schedule.hpp"
#include "ucs/type/status.h"

namespace ucp::wakeup {

// Slot of a worker.
struct idling {
    explicit idling(worker&) noexcept {}

    spin_budget spinning;
    yield_schedule yields;
    std::atomic<bool> yield_due = false;
};

// Yields the processor to other threads if the last progress found the worker idle and a yield is
// due. Thread mode MULTI only, and called without the worker's lock, because other threads of the
// program may need it meanwhile. In the other modes progress yields by itself.
void yield_if_due(worker& owner) noexcept;

// Returns when progress has something to do: spins for a moment, yields the processor in between,
// then sleeps. Calls no callbacks. Call without the worker's lock, which is taken for short
// moments.
ucs_status_t wait(worker& owner) noexcept;

// Returns when the byte at `address` has changed or progress has something to do, and otherwise
// soon, because a peer's write to memory causes no wakeup.
void wait_for_memory(worker& owner, const void* address) noexcept;

}  // namespace ucp::wakeup
