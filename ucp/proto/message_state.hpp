// State of a tagged or active message while it is sent.
#pragma once

#include "ucp/core/request.hpp"

namespace ucp {

// A protocol that needs more adds it in a state of its own that begins with this one, and sets it
// itself: the protocol is chosen after the request was made. Owner context.
struct message_state : send_state {
    std::uint64_t first_word = 0;     // see ucp/core/kind.hpp
    const void* header = nullptr;     // the program's header of an active message
    std::uint32_t header_length = 0;  // bytes
    bool header_sent = false;         // `header` is not needed any more
};

}  // namespace ucp
