// The life of a connection: states, events, one transition table.
#pragma once

#include <cstdint>

namespace ucp::wireup {

enum class state : std::uint8_t {
    idle,         // made, nothing sent yet
    requested,    // our request is on its way
    ready,        // both sides know each other's endpoint
    peer_closed,  // ready, but the peer will send nothing more
    abandoned,    // closed by the user before the answer came
    closing,      // closed by the user, the peer was told
    failed,       // the peer or every lane to it is gone
    closed,       // nothing left to do: the endpoint may be destroyed
};

enum class event : std::uint8_t {
    use,           // the user sends, or flushes
    request,       // the peer's request came
    reply,         // the answer to ours came
    peer_close,    // the peer told that it closed
    local_close,   // the user closed
    failure,       // lane error, refusal, or a shortage or limit on this side
    peer_failure,  // the peer told that its endpoint failed on its side
};

// What the owner of the connection has to do on a transition.
enum class action : std::uint8_t {
    none,
    send_request,
    become_ready,            // queued sends may go
    become_ready_and_reply,  // the same, and the peer waits for a reply
    reply,                   // the peer asks again
    send_close,
    reply_and_close,  // answer the peer's request, then tell it that we closed
    tell_user,        // the peer closed: error callback in PEER mode
    fail,             // complete everything with the error
    fail_and_tell,    // the same, and the peer hears that this end is over
    tell_failure,     // only that: the user has closed
    unexpected,       // log: the peer breaks the protocol
};

struct transition {
    state next;
    action todo;
};

// Total: every pair of state and event has an entry.
[[nodiscard]] transition step(state from, event what) noexcept;

// Both sides know each other's endpoint.
[[nodiscard]] constexpr bool is_established(state which) noexcept {
    return which == state::ready || which == state::peer_closed || which == state::closing;
}
// The other side has not answered yet.
[[nodiscard]] constexpr bool is_waiting(state which) noexcept {
    return which == state::idle || which == state::requested || which == state::abandoned;
}
// Nothing comes of it any more.
[[nodiscard]] constexpr bool is_over(state which) noexcept {
    return which == state::failed || which == state::closed;
}

[[nodiscard]] const char* name(state which) noexcept;
[[nodiscard]] const char* name(event which) noexcept;

}  // namespace ucp::wireup
