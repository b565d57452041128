// Sender side of a rendezvous: handles the receiver's replies to an RTS.
#pragma once

#include "ucp/proto/send.hpp"
#include "ucp/rndv/wire.hpp"

namespace ucp {

// Registers the handlers of data requests, final statuses and requests for more RTS messages.
void rndv_listen_replies(worker& owner, uct::iface& iface);

// The receiver requested the data: streams it into its request `reply`.
void rndv_stream_data(request& send, std::uint64_t reply);

// The receiver reads the first part itself and wants the rest written to its memory. It is notified
// when nothing will be written any more, even if the send is aborted meanwhile. It is not notified
// if the request does not fit the send (the request is dropped) or if the connection failed before.
void rndv_write_part(request& send, const wire::rtr_header& where, std::span<const std::byte> key);

// Returns whether everything is written, and only the final rndv_atp has to be sent.
[[nodiscard]] bool is_sending_atp(const request& send) noexcept;

// Notifies the receive `reply` of the peer how writing its part ended, or whether the send still
// ran when its memory had been read.
void notify_receive(peer& to, std::uint64_t reply, ucs_status_t status);

}  // namespace ucp
