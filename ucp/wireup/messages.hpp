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

// Introduces an endpoint to the peer: who we are, how to reach us.
void send_request(ep& from);
// Answers a request.
void send_reply(ep& from);
// Introduces a server's endpoint to the client's that asked for it by socket address.
void send_bind(ep& from);
// The endpoint will send nothing more, or it failed. Never lost: the message waits for room in the
// endpoint, which stays until it has left.
void send_close(ep& from);
void send_failed(ep& from);
// One that waited for room: as pending_request::progress.
[[nodiscard]] ucs_status_t send_last_word(ep& from, wire::wireup_type type);

// Answers a request for a worker that is not this one, or for one endpoint too many, or a reply to
// an endpoint that is gone.
void send_refusal(peer& to, const wire::wireup_header& unwanted, wire::end_reason reason);

// A worker asks for lanes that come in pairs (ucp/wireup/pairing.hpp). Everything may be wrong.
void take_question(worker& owner, const wire::wireup_header& header,
                   std::span<const std::byte> body);

// One line: whoever answers at its address is not the worker that was asked, or refuses.
void tell_unreachable(worker& owner, const peer& refusing) noexcept;

// Registers the handler of connection messages.
void listen(worker& owner, uct::iface& on);

}  // namespace ucp::wireup
