// Proofs of connection messages. A proof is a message authentication code (a tag), whose key only
// the sender and the receiver of the message can compute.
//
// Every worker has a key pair, and its public key is part of its address (ucp/address/wire.hpp).
// Each of two workers computes their shared key from its own key pair and the public key of the
// other worker. So a worker that knows the addresses of two others cannot send messages to one in
// the name of the other. A worker that does not know the address of another cannot send it messages
// at all.
//
// The tag also covers the packed address at which the sender reached the receiver. Suppose that an
// attacker gives the sender a modified address, with the receiver's public key and the interfaces
// of the attacker's process. The receiver then rejects the proofs, so the attacker cannot pass on
// the messages of the two workers as a man in the middle.
//
// A message may reach another worker than the addressed one, for example a worker that now listens
// where the addressed one did before it ended. That other worker must refuse the message, but
// cannot make a proof in the name of the addressed worker. So its refusal contains the receipt from
// the message, which shows that it received that message.
//
// A message that connects endpoints hides the id of the sender's endpoint with a mask that is
// derived from the shared key. Otherwise a modified address could lead the message to a third
// process, which would learn the id and could send to the endpoint in the name of the receiver. A
// worker that refuses the message returns the hidden id unchanged.
//
// The sender, or an attacker on the network, may send a message twice. The second copy has no
// effect, because the ids of endpoints and attempts in it are used only once, and requests are
// numbered (ucp/wireup/request_order.hpp).
#pragma once

#include "ucp/core/peer_identity.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/security/key.hpp"

namespace ucp::wireup {

// Computes the proof of a message as if the proof field of its header were 0. `reached` is the
// packed address at which the sender reached the receiver. Pure.
[[nodiscard]] ucs::security::tag prove(const ucs::security::key& shared,
                                       std::span<const std::byte> reached,
                                       const wire::wireup_header& header,
                                       std::span<const std::byte> body) noexcept;
// Returns whether the proof in the header is valid. Pure.
[[nodiscard]] bool is_proven(const ucs::security::key& shared, std::span<const std::byte> reached,
                             const wire::wireup_header& header,
                             std::span<const std::byte> body) noexcept;

// Computes the receipt for messages of the worker with the uid `from` about its endpoint, or its
// pairing attempt, with this number. Pure.
[[nodiscard]] ucs::security::tag make_receipt(const ucs::security::key& shared, std::uint64_t from,
                                              std::uint64_t number) noexcept;

// Computes the mask that hides the id of the sender's endpoint in messages with this receipt. The
// message contains the exclusive or of id and mask. Pure.
[[nodiscard]] std::uint64_t make_ep_mask(const ucs::security::key& shared,
                                         const ucs::security::tag& receipt) noexcept;

// Returns whether messages of this type connect endpoints, and so hide the sender's endpoint id.
[[nodiscard]] constexpr bool connects(wire::wireup_type type) noexcept {
    using enum wire::wireup_type;
    return type == request || type == reply || type == bind;
}

// Returns whether messages of this type hold a receipt.
[[nodiscard]] constexpr bool can_be_refused(wire::wireup_type type) noexcept {
    return connects(type) || type == wire::wireup_type::pair;
}

// Completes the header of a message to the worker: adds the receipt, if the message type has one,
// and the proof.
void seal(peer_identity& to, wire::wireup_header& header, std::span<const std::byte> body) noexcept;

}  // namespace ucp::wireup
