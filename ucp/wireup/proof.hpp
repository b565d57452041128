// Proofs of connection messages: each is tagged under a key that only its two workers can compute.
//
// Every worker has a key pair, and the public half is in its address (ucp/address/wire.hpp). Two
// workers agree on a key by the own pair and the other's public half. So a worker that was told the
// addresses of two others cannot speak to one in the name of the other, and one that was told no
// address of a worker cannot speak to it at all.
//
// A message is also tagged with the packed address by which its sender reaches the receiver. One
// that was sent by an address with the receiver's key and interfaces of somebody else proves
// nothing, so its maker cannot stand between the two workers and pass their messages on.
//
// A worker that takes the place of another one cannot make the other one's proofs, yet it has to
// refuse what comes for it. It returns the receipt that the message holds, which only its receiver
// has seen.
//
// A message that connects hides the number of the sender's endpoint by the same key. An address
// with the key of another worker may lead it to somebody else, who would send to the endpoint as
// that worker. A worker that refuses the message returns the number as it came, hidden.
//
// A message may be repeated, by its sender or by somebody on the way: the second one changes
// nothing, because the ids of endpoints and attempts in it are used once, and requests are numbered
// (ucp/wireup/request_order.hpp).
#pragma once

#include "ucp/wireup/wire.hpp"
#include "ucs/security/mac.hpp"

namespace ucp::wireup {

// The proof of a message, whose own field for it does not count. `reached`: the receiver's packed
// address. Pure.
[[nodiscard]] ucs::security::tag prove(const ucs::security::key& shared,
                                       std::span<const std::byte> reached,
                                       const wire::wireup_header& header,
                                       std::span<const std::byte> body) noexcept;
[[nodiscard]] bool is_proven(const ucs::security::key& shared, std::span<const std::byte> reached,
                             const wire::wireup_header& header,
                             std::span<const std::byte> body) noexcept;

// The receipt in messages of worker `from` about its endpoint, or its attempt to pair lanes, of
// this number. Pure.
[[nodiscard]] ucs::security::tag make_receipt(const ucs::security::key& shared, std::uint64_t from,
                                              std::uint64_t number) noexcept;

// Messages with this receipt show the number of the sender's endpoint only behind this mask, which
// is combined with it by exclusive or. Pure.
[[nodiscard]] std::uint64_t make_ep_mask(const ucs::security::key& shared,
                                         const ucs::security::tag& receipt) noexcept;

// Returns whether messages of this type connect endpoints, and so hide the sender's.
[[nodiscard]] constexpr bool connects(wire::wireup_type type) noexcept {
    using enum wire::wireup_type;
    return type == request || type == reply || type == bind;
}

// Returns whether messages of this type hold a receipt.
[[nodiscard]] constexpr bool can_be_refused(wire::wireup_type type) noexcept {
    return connects(type) || type == wire::wireup_type::pair;
}

}  // namespace ucp::wireup
