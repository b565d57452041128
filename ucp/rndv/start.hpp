// The RTS of a rendezvous message, shared by every rendezvous protocol.
#pragma once

#include "ucp/proto/send.hpp"

namespace ucp {

// Sends the RTS once; with `readable` it tells the receiver where to read the data itself. Works as
// protocol::progress.
ucs_status_t send_rts(request& send, bool readable);

}  // namespace ucp
