// Sending active messages.
#pragma once

#include "ucp/proto/send.hpp"

namespace ucp {

// Parameters of a send, checked by the caller: the header's length is at most the worker's
// max_am_header, and the flags are ucp_send_am_flags that do not contradict each other.
struct am_message {
    std::uint16_t id;
    const void* header;
    std::uint32_t header_length;
    const void* buffer;
    std::size_t count;
    std::uint32_t flags;
};

// See ucp_am_send_nbx for the result. Owner context.
ucs_status_ptr_t am_send(ep& to, const am_message& message, const operation& params);

}  // namespace ucp
