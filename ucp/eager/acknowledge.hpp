// Sender's completion of a synchronous eager send.
#pragma once

#include "ucp/core/request.hpp"

namespace ucp {

// Call when the receiver has matched the message or dropped it. Owner context.
void eager_acknowledged(request& send, ucs_status_t status);

}  // namespace ucp
