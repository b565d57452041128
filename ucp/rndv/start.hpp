// The announcement of a message (RTS), shared by every rendezvous protocol.
#pragma once

#include "ucp/tag/send.hpp"

namespace ucp {

// Sends the announcement once; `readable` tells the receiver where to read the data itself.
// As protocol::progress.
ucs_status_t send_rts(request& send, bool readable);

// The receiver asked for the data: streams it into its request `reply`.
void rndv_stream_data(request& send, std::uint64_t reply);

}  // namespace ucp
