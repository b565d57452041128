// The states of a connection and their transitions, as a table.
#pragma once

#include <cstdint>
#include <optional>

namespace uct::tcp {

enum class state : std::uint8_t {
    idle,         // no socket; the first send connects
    connecting,   // TCP handshake under way
    greeting,     // this side has sent its hello
    backing_off,  // an attempt failed or lost a race; a timer retries, or the peer connects
    established,
    parting,   // this side proposed to close, and sends nothing until the peer answers
    draining,  // the socket accepts no data; progress reads what arrived and then sets the final
               // status
    failed,
};

enum class event : std::uint8_t {
    wanted,         // a send needs the connection
    connected,      // the TCP handshake ended
    welcomed,       // the peer accepted the hello of this side
    accepted,       // this side accepted a hello of the peer
    gave_way,       // the attempt lost a race or failed temporarily
    retry,          // the timer of backing_off
    propose_close,  // this side has no endpoints
    close_denied,
    parted,       // both sides agreed to close; the socket closes
    send_failed,  // or the peer is silent; what it sent before tells the reason
    broken,       // final failure
};

// Frames can be received, and usually sent.
[[nodiscard]] constexpr bool is_open(state value) noexcept {
    return value == state::established || value == state::parting;
}
// The connection is ending: operations of endpoints only return its status.
[[nodiscard]] constexpr bool has_ended(state value) noexcept {
    return value == state::draining || value == state::failed;
}

// Returns the state after `trigger` in `from`, or nothing if the transition is not allowed.
[[nodiscard]] std::optional<state> next_state(state from, event trigger) noexcept;

[[nodiscard]] const char* name_of(state value) noexcept;
[[nodiscard]] const char* name_of(event value) noexcept;

}  // namespace uct::tcp
