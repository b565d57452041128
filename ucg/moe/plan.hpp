// The plan of one routing: everything that dispatch and combine must know before data moves. The
// handle of the C API holds one.
#pragma once

#include <memory>

#include "ucg/moe/arriving.hpp"
#include "ucg/moe/group_counts.hpp"
#include "ucg/moe/relay_plan.hpp"
#include "ucg/moe/send_plan.hpp"

namespace ucg::moe {

// Notify makes the plan. One plan serves any number of dispatches and combines, and does not refer
// to the memory of the caller's top-k matrix. Immutable; any thread.
struct plan {
    std::shared_ptr<const team> of;
    settings by;
    choices chosen;
    send_plan out;
    relay_plan through;
    arriving in;
    group_counts all_counts;

    [[nodiscard]] form_hash agreed() const noexcept {
        return of->agreed().with(by.channels, chosen.k());
    }
};

}  // namespace ucg::moe
