// The announcement of a message (RTS), shared by every rendezvous protocol.
#pragma once

#include "ucp/proto/send.hpp"

namespace ucp {

// Sends the announcement once; `readable` tells the receiver where to read the data itself. As
// protocol::progress.
ucs_status_t send_rts(request& send, bool readable);

}  // namespace ucp
