// Yielding and sleeping as a feature of ucp/features.
#pragma once

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/wakeup/wait.hpp"
#include "ucp/wakeup/yield_schedule.hpp"

namespace ucp::wakeup {

// Reactions to events of the core.
struct feature {
    static void on(const events::worker_idle& event) noexcept {
        idling& state = slot_of<idling>(event.owner);
        if (!state.yields.is_due(ucs::time::now())) return;
        state.yield_due.store(true, std::memory_order_relaxed);
        if (!event.owner.lock().enabled()) yield_if_due(event.owner);
    }
};

}  // namespace ucp::wakeup
