// The plan of one routing: everything that dispatch and combine must know before data moves. The
// handle of the C API holds one.
#pragma once

#include <memory>

#include "ucg/moe/plan/group_counts.hpp"
#include "ucg/moe/plan/receive_plan.hpp"
#include "ucg/moe/plan/relay_plan.hpp"
#include "ucg/moe/plan/send_plan.hpp"

namespace ucg::moe {

// Notify makes the plan. One plan serves any number of dispatches and combines, and does not refer
// to the memory of the caller's top-k matrix. Immutable; any thread.
struct plan {
    std::shared_ptr<const team> group;
    settings options;
    choices chosen;
    send_plan sends;
    relay_plan relays;
    receive_plan receives;
    group_counts all_counts;

    [[nodiscard]] form_hash agreed() const noexcept {
        return group->agreed().with(options.channels, chosen.k());
    }
};

}  // namespace ucg::moe
