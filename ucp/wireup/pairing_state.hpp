// State machine of the connection set-up of paired lanes: states, events, one transition table.
#pragma once

#include <cstdint>

namespace ucp::wireup {

enum class pairing_state : std::uint8_t {
    none,       // the lanes are not paired, or there are none
    requested,  // the requester waits for the reply
    replied,    // the responder waits for `joined`
    joined,     // the lanes may be used
    postponed,  // the lanes are joined, and a newer request waits until they are gone
    refusing,   // there are no lanes; the bootstrap lane carries refusals only
};

// The caller decides whether an event concerns our attempt, the postponed one or another, before it
// asks the table.
enum class pairing_event : std::uint8_t {
    begin,                 // paired lanes were chosen
    request,               // a request for a new attempt came
    request_loses,         // the same, and our uid is smaller: our own request counts
    request_in_use,        // the same, and endpoints want the lanes without pairs
    request_repeated,      // our attempt was requested again
    accepting,             // the requested lanes are being made; earlier ones are closed
    accept_failed,         // they cannot be made
    declined,              // the peer uses lanes without pairs instead of our attempt's
    declined_established,  // the same, and one of our endpoints is connected
    unpaired,              // the peer has given up our attempt
    not_here,              // the worker that we requested lanes of has gone
    other_attempt_over,    // the peer has given up an attempt that is not ours
    postponed_over,        // the peer has given up the postponed request
    reply,                 // the reply to our attempt came
    foreign_reply,         // the reply to an attempt that is not ours came
    lanes_connected,       // our lanes took the connection data of the reply
    lanes_failed,          // they did not
    joined,                // the peer has joined the lanes of our attempt
    over_pair,             // a connection message came over paired lanes
    over_others,           // a connection message came over other lanes
    repeat,                // the reply to our request has not come for long
    probe,                 // the keepalive asks whether the peer is alive
    peer_left,             // the peer has closed its end of the lanes
    give_up,               // the peer object is dropped to make room for others
    destroy,               // nothing uses the peer object, and the peer has to be notified
    refuse_without_lane,   // a refusal has to be sent, and no lane carries it
    close,                 // the lanes are closed
};

// Action of the peer on a transition.
enum class pairing_action : std::uint8_t {
    none,
    send_request,
    send_reply,
    accept,             // make the requested lanes and reply
    accept_and_revoke,  // the same, and revoke our own request
    postpone,
    refuse,
    connect_lanes,             // by the connection data of the reply
    confirm,                   // join the lanes and tell the peer
    join,                      // the peer has joined the lanes, so do we
    try_other_lane,            // exclude the lane and choose again
    reconnect,                 // choose lanes again for the endpoints that want to connect
    reconnect_unpaired,        // the same without paired lanes
    repeat_endpoint_requests,  // the peer may have dropped the requests of our endpoints
    check_lane,                // find out whether the message lane works
    check_bootstrap,
    fail_unreachable,
    lose_lanes,  // the endpoints fail or get other lanes
    leave,       // the endpoints fail; those that wait get new lanes
    deliver,     // the connection message is handled
    drop,        // a message over other lanes does not fit those in use, as with the next two
    drop_and_reply,
    drop_and_check,
    notify,         // tell the peer that the lanes are over
    notify_joined,  // the same for lanes over which messages may still be on their way
    give_up,        // notify the peer of nothing later on
    notify_and_give_up,
};

struct pairing_transition {
    pairing_state next;
    pairing_action todo;
};

// Total: every pair of state and event has an entry.
[[nodiscard]] pairing_transition step(pairing_state from, pairing_event input) noexcept;

// Returns whether the lanes are paired, or are being paired.
[[nodiscard]] constexpr bool in_pairs(pairing_state value) noexcept {
    return value != pairing_state::none && value != pairing_state::refusing;
}
// Returns whether messages may go over paired lanes.
[[nodiscard]] constexpr bool is_joined(pairing_state value) noexcept {
    return value == pairing_state::joined || value == pairing_state::postponed;
}

[[nodiscard]] const char* name(pairing_state value) noexcept;

}  // namespace ucp::wireup
