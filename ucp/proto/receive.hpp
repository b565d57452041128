// End of a receive, shared by eager and rendezvous messages.
#pragma once

#include "ucp/core/complete.hpp"
#include "ucp/core/ep.hpp"
#include "ucp/proto/request_ids.hpp"
#include "ucp/staging/staged_sink.hpp"

namespace ucp {

// Releases the id that the sender knows the receive by, if it has one. Needs a matched receive
// whose transfer was begun. Owner context.
inline void release_receive_id(request& receive) noexcept {
    recv_state& state = receive.state.recv;
    if (state.local_id != 0) {
        slot_of<request_ids>(*receive.owner).receives.remove(std::exchange(state.local_id, 0));
    }
}

// Completes a receive that has its message or failed, but not one of a stream. If copies to a
// device are under way, it completes when they have ended. Owner context.
inline void finish_receive(request& receive, ucs_status_t status) {
    dt::recv_buffer& buffer = receive.state.recv.buffer;
    const bool is_over = !buffer.needs_finish() || finish_buffer(buffer, status, complete);
    if (receive.via != nullptr) {
        release_receive_id(receive);
        receive.via->operations().remove_receive(receive);
    }
    if (is_over) complete(receive, status);
}

}  // namespace ucp
