// What an endpoint knows about operations on its peer's memory that may not be over.
#pragma once

#include <cstdint>
#include <vector>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/type/status.h"
#include "uct/api/types.hpp"

namespace ucp {

// Made when an endpoint first carries out such an operation by a request. Operations that are
// answered are among the endpoint's running sends, and counted; here are those that are not,
// counted in messages (see ucp/rma/wire.hpp), and the fences that later operations wait behind.
// Owned by the endpoint. Owner context.
struct remote_tracker {
    std::uint64_t posted = 0;       // messages that were sent
    std::uint64_t asked = 0;        // of them, those that the peer was asked about
    std::uint64_t confirmed = 0;    // of them, those that it has carried out
    bool copied = false;            // puts went over the lane whose end nobody hears
    unsigned flushing = 0;          // flushes of the lane that are under way for them
    ucs_status_t outcome = UCS_OK;  // the first failure since the last flush that nobody was told
    unsigned unanswered = 0;        // operations that the peer has not answered yet
    // Those that wait until it has answered some: it keeps a bounded number in mind.
    ucs::datastruct::list<uct::pending_request, &uct::pending_request::pending_hook> held;
    bool resuming = false;              // they are being started
    std::vector<std::uint64_t> fences;  // sequence numbers of what came first behind them

    [[nodiscard]] bool all_confirmed() const noexcept { return confirmed == posted; }
};

}  // namespace ucp
