// The sender's end of a synchronous eager send.
#pragma once

#include "ucp/core/request.hpp"

namespace ucp {

// The receiver matched it, or gave it up. Owner context.
void eager_acknowledged(request& send, ucs_status_t status);

}  // namespace ucp
