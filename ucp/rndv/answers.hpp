// What the sender of an announced message does when its receiver answers.
#pragma once

#include "ucp/proto/send.hpp"
#include "ucp/rndv/wire.hpp"

namespace ucp {

// Registers the handlers of data requests, final statuses and requests for announcements.
void rndv_listen_answers(worker& owner, uct::iface& on);

// The receiver asked for the data: streams it into its request `reply`.
void rndv_stream_data(request& send, std::uint64_t reply);

// The receiver reads the first part itself and wants the rest written to its memory. It is told
// when nothing will be written any more, also when the send is broken off meanwhile; not when the
// request does not fit the send (it is dropped) or the connection failed before.
void rndv_write_part(request& send, const wire::rtr_header& where, std::span<const std::byte> key);

// Whether everything is written, and the send only has to tell the receiver so.
[[nodiscard]] bool says_last_word(const request& send) noexcept;

// Tells the receive `reply` of the peer how writing a part of it ended, or whether the send still
// ran when it had been read.
void answer_receive(peer& to, std::uint64_t reply, ucs_status_t status);

}  // namespace ucp
