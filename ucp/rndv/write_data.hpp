// Writing of a message's data to the receiver's memory.
#pragma once

#include "ucp/proto/send.hpp"

namespace ucp {

// Writes [offset, end) of the send's buffer to the receiver's memory. UCS_ERR_NO_RESOURCE: call
// again. After any other error the receiver gets all data by another method. Owner context.
[[nodiscard]] ucs_status_t write_rest(request& send);

}  // namespace ucp
