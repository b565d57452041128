// All that dispatch and combine need to know before data moves: the handle of a routing.
#pragma once

#include <memory>

#include "ucg/moe/arriving.hpp"
#include "ucg/moe/census.hpp"
#include "ucg/moe/outgoing.hpp"
#include "ucg/moe/passing.hpp"

namespace ucg::moe {

// Made by notify; serves any number of dispatches and combines, also after the gate's choices are
// gone. Immutable; any thread.
struct plan {
    std::shared_ptr<const team> of;
    settings by;
    choices chosen;
    outgoing out;
    passing through;
    arriving in;
    census among;

    [[nodiscard]] form_hash agreed() const noexcept {
        return of->agreed().with(by.channels, chosen.k());
    }
};

}  // namespace ucg::moe
