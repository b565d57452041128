// Receiver of a rendezvous: reads the data of a matched message or requests it by an RTR, and ends
// with an ATS or the sender's ATP.
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
void send_ats(const ep& from, std::uint64_t send, ucs_status_t status, std::uint64_t reply = 0);

// Registers the handlers of data and of final statuses of the sender's writes.
void rndv_listen(worker& owner, uct::iface& iface);

// Aborts a matched receive whose sender was forgotten.
void abort_receive(request& receive, ucs_status_t status);

// The sender of a receive that was aborted before is gone, see kept_operations: the receive ends as
// soon as no lane of ours writes into the buffer.
void rndv_abandon(request& receive);

// The data request of the receive `reply` has left or was dropped. `is_stopped`: it was dropped,
// and its endpoint is over or about to fail: the sender does not write into the buffer.
void rndv_request_ended(worker& owner, std::uint64_t reply, bool is_stopped);

}  // namespace ucp
