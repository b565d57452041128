// State of an endpoint's operations on its peer's memory that may be incomplete.
#pragma once

#include <cstdint>
#include <vector>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/type/status.h"
#include "uct/api/types.hpp"

namespace ucp {

// Made when an endpoint first carries out such an operation by a request. Operations that get a
// reply are counted among the endpoint's running sends. The tracker counts the others, in messages
// (see ucp/rma/wire.hpp), and keeps the fences behind which later operations wait. Owned by the
// endpoint. Owner context.
struct remote_tracker {
    std::uint64_t posted = 0;       // messages sent
    std::uint64_t requested = 0;    // messages whose confirmation was requested
    std::uint64_t confirmed = 0;    // messages that the peer has confirmed
    bool copied = false;            // puts went over the lane, which does not report their end
    unsigned flushing = 0;          // flushes of the lane that are running for these puts
    ucs_status_t outcome = UCS_OK;  // first failure since the last flush that was not reported yet
    unsigned unanswered = 0;        // operations to which the peer has not replied yet
    // Operations that wait until the peer has replied to others, because it keeps a bounded number.
    ucs::datastruct::list<uct::pending_request, &uct::pending_request::pending_hook> held;
    bool resuming = false;              // the held operations are being started
    std::vector<std::uint64_t> fences;  // sequence number of the first operation behind each fence

    [[nodiscard]] bool all_confirmed() const noexcept { return confirmed == posted; }
};

}  // namespace ucp
