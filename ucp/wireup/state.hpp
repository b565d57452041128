// State machine of a connection: states, events, one transition table.
#pragma once

#include <cstdint>

namespace ucp::wireup {

enum class state : std::uint8_t {
    idle,         // created, nothing sent yet
    requested,    // our request was sent
    ready,        // both sides know each other's endpoint
    peer_closed,  // ready, but the peer will send nothing more
    abandoned,    // closed by the user before the answer came
    closing,      // closed by the user, the peer was notified
    failed,       // the peer or every lane to it is gone
    closed,       // nothing left to do: the endpoint may be destroyed
};

enum class event : std::uint8_t {
    use,           // the user sends, or flushes
    request,       // the peer's request came
    reply,         // the reply to our request came
    peer_close,    // the peer has closed
    local_close,   // the user closed
    failure,       // lane error, refusal, or a shortage or limit on this side
    peer_failure,  // the peer's endpoint failed on its side
};

// Action of the endpoint on a transition.
enum class action : std::uint8_t {
    none,
    send_request,
    become_ready,            // queued sends may go
    become_ready_and_reply,  // the same, and reply to the peer
    reply,                   // the peer repeated its request
    send_close,
    reply_and_close,  // reply to the peer's request, then notify it that we closed
    notify_user,      // the peer closed: error callback in PEER mode
    fail,             // complete all operations with the error
    fail_and_tell,    // the same, and notify the peer that this end is over
    notify_failure,   // only notify the peer: the user has closed
    unexpected,       // log that the peer breaks the protocol
};

struct transition {
    state next;
    action todo;
};

// Total: every pair of state and event has an entry.
[[nodiscard]] transition step(state from, event input) noexcept;

// Returns whether both sides know each other's endpoint.
[[nodiscard]] constexpr bool is_established(state value) noexcept {
    return value == state::ready || value == state::peer_closed || value == state::closing;
}
// Returns whether the peer has not replied yet.
[[nodiscard]] constexpr bool is_waiting(state value) noexcept {
    return value == state::idle || value == state::requested || value == state::abandoned;
}
// Returns whether the connection has ended.
[[nodiscard]] constexpr bool is_over(state value) noexcept {
    return value == state::failed || value == state::closed;
}

[[nodiscard]] const char* name(state value) noexcept;
[[nodiscard]] const char* name(event value) noexcept;

}  // namespace ucp::wireup
