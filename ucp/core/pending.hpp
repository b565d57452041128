// Taking one request out of a lane's queue.
#pragma once

#include "uct/api/ep.hpp"

namespace ucp {

// The queue is shared by all endpoints to a peer: all requests but this one go back in order.
inline void remove_pending(uct::ep& lane, uct::pending_request& leave_out) {
    struct purging {
        uct::ep& lane;
        uct::pending_request& leave_out;
    } job{lane, leave_out};
    lane.pending_purge(
        [](uct::pending_request& queued, void* arg) {
            auto& purge = *static_cast<purging*>(arg);
            if (&queued != &purge.leave_out) purge.lane.pending_add(queued);
        },
        &job);
}

}  // namespace ucp
