// Sender of a rendezvous: sends the RTS, streams or writes the data that the receiver requests, and
// ends with an ATP or the receiver's ATS.
#pragma once

#include "ucp/proto/send.hpp"

namespace ucp {

// Sends the RTS once; with `readable` it tells the receiver where to read the data itself. Works as
// protocol::progress.
ucs_status_t send_rts(request& send, bool readable);

// Abandon and end a send that has begun by an RTS, see struct protocol.
void keep_exposed(request& send);
void end_rndv(request& send);

// Registers the handlers of the receiver's replies.
void rndv_listen_replies(worker& owner, uct::iface& iface);

// Writes [offset, end) of the send's buffer to the receiver's memory. UCS_ERR_NO_RESOURCE: call
// again. After any other error the receiver gets all data by another method. Owner context.
[[nodiscard]] ucs_status_t write_rest(request& send);

}  // namespace ucp
