// Sending bytes of a stream.
#pragma once

#include "ucp/proto/send.hpp"

namespace ucp {

// See ucp_stream_send_nbx for the result. Owner context.
ucs_status_ptr_t stream_send(ep& to, const void* buffer, std::size_t count,
                             const operation& params);

}  // namespace ucp
