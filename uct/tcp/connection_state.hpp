// The life of a connection as a table.
#pragma once

#include <cstdint>
#include <optional>

namespace uct::tcp {

enum class state : std::uint8_t {
    idle,         // no socket; the first send connects
    connecting,   // TCP handshake under way
    greeting,     // our hello is out
    backing_off,  // an attempt failed or gave way; a timer retries, or the peer connects
    established,
    parting,   // we asked whether the connection may close and send nothing until answered
    draining,  // the socket takes nothing more; progress reads what arrived, then names the end
    failed,
};

enum class event : std::uint8_t {
    wanted,       // something is to be sent
    connected,    // the TCP handshake ended
    welcomed,     // the peer answered our hello
    accepted,     // we welcomed a hello of the peer
    gave_way,     // the attempt lost a race or failed for now
    retry,        // the timer of backing_off
    ask_to_part,  // nobody uses this side any more
    part_denied,
    parted,       // both sides agreed, the socket closes
    send_failed,  // or the peer fell silent: only what it sent before tells why
    broken,       // for good
};

// State after `what` in `from`, or nothing: the pair must not happen.
[[nodiscard]] std::optional<state> next_state(state from, event what) noexcept;

[[nodiscard]] const char* name_of(state which) noexcept;
[[nodiscard]] const char* name_of(event which) noexcept;

}  // namespace uct::tcp
