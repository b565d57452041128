// Proofs of connection messages: each message is tagged under a key that only its two workers can
// compute.
//
// Every worker has a key pair, and the public key is in its address (ucp/address/wire.hpp). Two
// workers agree on a key by the own key pair and the other worker's public key. So a worker that
// knows the addresses of two others cannot send messages to one in the name of the other, and a
// worker that does not know the address of another cannot send it messages at all.
//
// The tag also covers the packed address by which the sender reaches the receiver. A message that
// was sent by a modified address, with the receiver's key and the interfaces of another process,
// proves nothing. So the author of such an address cannot stand between the two workers and pass
// their messages on.
//
// A worker that takes the place of another one cannot make the proofs of that one, yet it has to
// refuse its messages. It returns the receipt that the message holds, which only its receiver has
// seen.
//
// A message that connects hides the id of the sender's endpoint by the same key. Otherwise an
// address with the key of another worker could lead the message to a third process, which could
// then send to the endpoint as that worker. A worker that refuses the message returns the id as it
// came, hidden.
//
// A message may arrive again, repeated by its sender or by an attacker on the way: the second copy
// changes nothing, because the ids of endpoints and attempts in it are used once, and requests are
// numbered (ucp/wireup/request_order.hpp).
#pragma once

#include "ucp/wireup/wire.hpp"
#include "ucs/security/mac.hpp"

namespace ucp::wireup {

// Computes the proof of a message; its proof field is taken as 0. `reached`: the receiver's packed
// address. Pure.
[[nodiscard]] ucs::security::tag prove(const ucs::security::key& shared,
                                       std::span<const std::byte> reached,
                                       const wire::wireup_header& header,
                                       std::span<const std::byte> body) noexcept;
[[nodiscard]] bool is_proven(const ucs::security::key& shared, std::span<const std::byte> reached,
                             const wire::wireup_header& header,
                             std::span<const std::byte> body) noexcept;

// Computes the receipt in messages of worker `from` about its endpoint or pairing attempt of this
// number. Pure.
[[nodiscard]] ucs::security::tag make_receipt(const ucs::security::key& shared, std::uint64_t from,
                                              std::uint64_t number) noexcept;

// Computes the mask that hides the id of the sender's endpoint in messages with this receipt: the
// message holds the exclusive or of both. Pure.
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

}  // namespace ucp::wireup
