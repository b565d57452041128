// How client and server come together, as a table.
#pragma once

#include <cstdint>

namespace ucp::cm {

enum class phase : std::uint8_t {
    // The client's.
    connecting,  // a channel is being made
    proving,     // both sides prove the job key; without one this is over at once
    asked,       // our request is out; the server's program decides
    // The server's.
    unproven,  // somebody connected; with a job key, or while the client says that it has one
    greeting,  // somebody connected and has not said who it is
    offered,   // the program has the request
    accepted,  // the program made an endpoint; the client has to answer it in time
    // Of both.
    over,
};

enum class event : std::uint8_t {
    connected,    // the channel stands
    agreed,       // both sides have proven the job key, or neither has one
    request,      // frames of the other side
    refusal,      //
    established,  //
    nonsense,     // what is no frame
    end,          // of the channel
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
    offer,             // tell the program
    send_established,  // and close
    refuse,            // say so, and close
    drop,              // close
    fail,              // close, and the endpoint fails
};

struct transition {
    phase next;
    action todo;
};

// Total: every pair of phase and event has an entry. What the other side must not send ends the
// exchange.
[[nodiscard]] transition step(phase from, event what) noexcept;

[[nodiscard]] const char* name(phase which) noexcept;
[[nodiscard]] const char* name(event which) noexcept;

}  // namespace ucp::cm
