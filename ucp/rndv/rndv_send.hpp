// State of a send that goes by rendezvous.
#pragma once

#include "ucp/proto/message_state.hpp"
#include "ucp/rndv/exposed_buffer.hpp"

namespace ucp {

// The part of the message that the sender writes to the receiver's memory.
enum class written_part : std::uint8_t {
    rest,          // the receiver reads the part in front of it
    all,           // an ATP follows
    all_notified,  // the write itself notifies the receiver of its end
};

// Owner context.
struct rndv_send : message_state {
    // To be called before the RTS is sent. Sets `exposed`; the others are set by the RTR.
    void begin() noexcept {
        started = true;
        std::construct_at(&exposed);
    }

    std::unique_ptr<exposed_buffer> exposed;  // our memory, and then access to the receiver's
    std::uint64_t reply;                      // the receive that requested the data
    std::uint64_t target;                     // address of its buffer
    written_part written;
};

}  // namespace ucp
