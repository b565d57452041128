// State machine of the handshake between a client and a server by socket address: one transition
// table.
#pragma once

#include <cstdint>

namespace ucp::cm {

enum class phase : std::uint8_t {
    // Phases of the client.
    connecting,  // a channel is being made
    proving,     // both sides prove the job key; ends at once without a key
    requested,   // the connection request was sent; the server's program decides
    // Phases of the server.
    unproven,  // a client connected; this side has a job key, or the client says that it has one
    awaiting_request,  // a client connected and has not sent its request
    offered,           // the program has the request
    accepted,          // the program made an endpoint; the client has to answer its bind in time
    // Phase of both sides.
    over,
};

enum class event : std::uint8_t {
    connected,    // the channel is connected
    agreed,       // both sides have proven the job key, or neither has one
    request,      // frames of the other side: request, refusal, established
    refusal,      //
    established,  //
    malformed,    // input that is no valid frame
    end,          // end of the channel
    deadline,     //
    accept,       // the program made an endpoint of the request
    reject,       // the program does not want it
    ready,        // the endpoint is connected
    cancel,       // the endpoint, listener or worker ends
};

enum class action : std::uint8_t {
    none,
    open,  // begin to prove the job key
    send_request,
    offer,             // offer the request to the program
    send_established,  // send the frame, then close
    refuse,            // send a refusal, then close
    drop,              // close
    fail,              // close, and the endpoint fails
};

struct transition {
    phase next;
    action todo;
};

// The table is total: every pair of phase and event has an entry. A frame that the other side must
// not send ends the handshake.
[[nodiscard]] transition step(phase from, event input) noexcept;

[[nodiscard]] const char* name(phase value) noexcept;
[[nodiscard]] const char* name(event value) noexcept;

}  // namespace ucp::cm
