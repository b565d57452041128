// The connection of an endpoint: its state machine (ucp/wireup/state.hpp), its creation, its end.
#pragma once

#include <memory>
#include <string>

#include "ucp/core/ep.hpp"
#include "ucp/core/slots.hpp"
#include "ucp/wireup/socket_part.hpp"
#include "ucp/wireup/state.hpp"
#include "ucp/wireup/wire.hpp"

namespace ucp::wireup {

enum class pairs : std::uint8_t;

// Slot of an endpoint. Owner context.
struct ep_connection {
    explicit ep_connection(ep& endpoint) noexcept;

    std::unique_ptr<socket_part> socket;  // nullptr: not an endpoint by socket address
    state current = state::idle;
    bool is_uninvited = false;
    wire::wireup_type final_type{};
    wire::end_reason end_reason{};
};

[[nodiscard]] inline state state_of(const ep& endpoint) noexcept {
    return slot_of<ep_connection>(endpoint).current;
}
// Returns the part for endpoints by socket address; nullptr for other endpoints.
[[nodiscard]] inline socket_part* socket_of(const ep& endpoint) noexcept {
    return slot_of<ep_connection>(endpoint).socket.get();
}
// Returns whether nothing more is received: the endpoint failed, was closed by force, or the peer
// closed. Also true when both closed and the endpoint lives on for its final message only.
[[nodiscard]] inline bool is_incoming_over(const ep& endpoint) noexcept {
    const state current = state_of(endpoint);
    return endpoint.failure() != UCS_OK || current == state::peer_closed ||
           current == state::closed;
}
// Returns whether the peer's operations on our memory are answered: until the peer has closed as
// well, even after we closed, also by force.
[[nodiscard]] inline bool may_answer(const ep& endpoint) noexcept {
    return endpoint.is_connected() && !is_over(state_of(endpoint));
}
// Returns whether a ucp_ep_create may adopt this endpoint, which a peer's request made.
[[nodiscard]] bool is_adoptable(const ep& made) noexcept;

// Feeds an event into the connection's state machine.
void handle(ep& endpoint, event input, ucs_status_t status = UCS_OK);

// Hands the endpoint to the program, maybe one that a peer's request made before the program asked
// for one.
void adopt(ep& endpoint, const ep_params& params, std::string name = {}) noexcept;
// The program gives the endpoint up.
void detach(ep& endpoint) noexcept;
// Close for the program. Forced: running operations complete with UCS_ERR_CANCELED. The object
// lives on until the peer has closed as well.
void close_forced(ep& endpoint);
void close_flushed(ep& endpoint);
// The worker is being destroyed: everything ends, and the peer is not notified.
void abort_for_destruction(ep& endpoint);
// Ends the connection before the endpoint is destroyed.
void end_connection(ep& endpoint) noexcept;

// Takes a new id, because the old one was sent to a process that is not the peer. An established
// endpoint keeps its id. The endpoint fails if there is no memory for the change.
void renew_id(ep& endpoint) noexcept;
// The lane was replaced before the connection was established: sends the connection request again.
void connect_again(ep& endpoint);
// The connection request has had no reply for long: repeats it.
void repeat_request(ep& endpoint);
// Makes the lanes to the peer if there are none, and watches the peer if its transport needs that.
// Returns false if there are no lanes: the endpoint has failed then.
[[nodiscard]] bool ensure_lanes(ep& endpoint, pairs allowed_pairs);
// The peer has no lane any more.
void forget_lane(ep& endpoint) noexcept;
// Moves the endpoint to another peer object for the same worker. Only before there is a lane.
void move_to(ep& endpoint, peer& to) noexcept;

// Sends the final message, which tells the peer that this end is over (see send_close).
void send_final(ep& endpoint, wire::wireup_type type) noexcept;
// The lane that the message waited for has gone: then there is no peer to notify.
void drop_final_message(uct::pending_request& queued) noexcept;
[[nodiscard]] bool is_final_message(const uct::pending_request& queued) noexcept;

// Marks an endpoint that a request of the peer made; it is counted until the program asks for it or
// it is gone.
void mark_uninvited(ep& made) noexcept;
[[nodiscard]] inline bool is_uninvited(const ep& endpoint) noexcept {
    return slot_of<ep_connection>(endpoint).is_uninvited;
}
// Ends the endpoint because peers have made too many that the program has not asked for. The peer
// is notified if its lane has room; nothing of the endpoint waits for that.
void end_for_limit(ep& uninvited) noexcept;

}  // namespace ucp::wireup

namespace ucp {

// Returns whether the sender's endpoint is over; then no message of it is begun, because partial
// messages are dropped. `from`: as endpoint_table::find returned it.
[[nodiscard]] inline bool is_over(const ep* from) noexcept {
    return from == nullptr || wireup::is_incoming_over(*from);
}

}  // namespace ucp
