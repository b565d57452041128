// The receiving side of rendezvous.
#pragma once

#include "ucp/core/request.hpp"
#include "ucp/rndv/announcement.hpp"
#include "ucp/rndv/wire.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

class ep;
class worker;

// Moves the data of a matched message into the receive's buffer: reads it where a lane can, else
// asks for it. `from` is the endpoint to the sender.
void rndv_receive(request& receive, ep& from, announced what);

// Tells the sender how its announced message ended here. With `reply` it is asked whether the send
// still ran.
void rndv_tell_sender(const ep& from, std::uint64_t send, ucs_status_t status,
                      std::uint64_t reply = 0);

// Registers the handlers of data and of the ends of the sender's writing.
void rndv_listen(worker& owner, uct::iface& on);

// A read that waited for room and was taken out of the queue, because its lane is lost: its receive
// is ended by its endpoint, and need not wait for it.
[[nodiscard]] bool rndv_is_read(const uct::pending_request& queued) noexcept;
void rndv_drop_read(uct::pending_request& queued) noexcept;

// Takes a read that waits for room out of its lane's queue.
void rndv_unqueue(request& receive);

// The sender is gone: its part of the work will not be done. True while a lane of ours still
// writes into the buffer.
bool rndv_forget_peer(request& receive) noexcept;

// The same for a receive that was broken off before, see peer::keep: it ends as soon as no lane of
// ours writes into the buffer.
void rndv_abandon(request& receive);

// The request for data that the receive `reply` has sent was dropped before it left, and its
// endpoint is over or about to fail: the sender does not write into the buffer.
void rndv_request_dropped(worker& owner, std::uint64_t reply);

// Gives up what a matched receive holds.
void rndv_release(request& receive) noexcept;

// Ends a receive that has its message (or failed), announced or not.
void finish_receive(request& receive, ucs_status_t status);

// Ends a matched receive whose sender was forgotten.
void abort_receive(request& receive, ucs_status_t status);

}  // namespace ucp
