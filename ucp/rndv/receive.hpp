// Receiver side of rendezvous: moves the data of a matched message.
#pragma once

#include "ucp/core/request.hpp"
#include "ucp/rndv/rts.hpp"
#include "ucp/rndv/wire.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

class ep;
class worker;

// Moves the data of a matched message into the receive's buffer: reads it if a lane can, otherwise
// requests it. `from` is the endpoint to the sender.
void rndv_receive(request& receive, ep& from, rts_info message);

// Notifies the sender how its message ended here. With `reply` the sender is asked whether the send
// still ran.
void rndv_notify_sender(const ep& from, std::uint64_t send, ucs_status_t status,
                        std::uint64_t reply = 0);

// Registers the handlers of data and of final statuses of the sender's writes.
void rndv_listen(worker& owner, uct::iface& iface);

// For a read that waited for room and was removed from the queue because its lane is lost: the
// endpoint ends its receive, which need not wait for it.
[[nodiscard]] bool rndv_is_read(const uct::pending_request& queued) noexcept;
void rndv_drop_read(uct::pending_request& queued) noexcept;

// Takes a read that waits for room out of its lane's queue.
void rndv_unqueue(request& receive);

// The sender is gone: its part of the work will not be done. Returns true while a lane of ours
// still writes into the buffer.
bool rndv_forget_peer(request& receive) noexcept;

// Does the same for a receive that was aborted before, see peer::keep: it ends as soon as no lane
// of ours writes into the buffer.
void rndv_abandon(request& receive);

// The data request of the receive `reply` was dropped before it left, and its endpoint is over or
// about to fail: the sender does not write into the buffer.
void rndv_request_dropped(worker& owner, std::uint64_t reply);

// Aborts a matched receive whose sender was forgotten.
void abort_receive(request& receive, ucs_status_t status);

}  // namespace ucp
