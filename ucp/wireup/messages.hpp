// Sending and receiving connection messages.
#pragma once

#include "ucp/wireup/wire.hpp"
#include "uct/api/iface.hpp"

namespace ucp {
class ep;
class peer;
class worker;
}  // namespace ucp

namespace ucp::wireup {

struct postponed_request;

// Sends a connection request: our endpoint and our worker's address.
void send_request(ep& from);
// Replies to a request.
void send_reply(ep& from);
// Binds a server's endpoint to the client's endpoint that asked for it by socket address.
void send_bind(ep& from);
// Tell the peer that the endpoint will send nothing more, or that it failed. The message is never
// lost: it waits for room in the endpoint, which stays until the message has left.
void send_close(ep& from);
void send_failed(ep& from);
// Sends a final message that waited for room; works as pending_request::progress.
[[nodiscard]] ucs_status_t send_final_message(ep& from, wire::wireup_type type);

// Refuses a request for a worker that is not this one or for one endpoint too many, or a reply to
// an endpoint that is gone.
void send_refusal(peer& to, const wire::wireup_header& unwanted, wire::end_reason reason);

// Handles a pair request (ucp/wireup/pairing.hpp). Everything in it may be wrong.
void take_pair_request(worker& owner, const wire::wireup_header& header,
                       std::span<const std::byte> body);

// Serves a pair request that a peer object had postponed.
void answer_postponed(worker& owner, const postponed_request& postponed) noexcept;

// Returns whether senders get credits for eager messages now.
[[nodiscard]] bool grants_credits(const worker& owner) noexcept;

// Checks that connection messages fit into one message of each transport, so that no state is kept
// for them.
[[nodiscard]] ucs_status_t check_message_sizes(const worker& owner);

// Logs that the process at the peer's address is not the requested worker, or refuses.
void log_unreachable(worker& owner, peer& refusing) noexcept;

// Registers the handler of connection messages.
void listen(worker& owner, uct::iface& iface);

}  // namespace ucp::wireup
