// Refuses connection messages, which any process may send in any number.
#pragma once

#include <array>

#include "ucp/core/peer.hpp"
#include "ucp/core/slots.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/log/throttle.hpp"

namespace ucp::wireup {

enum class evidence : std::uint8_t { none, proof };  // that the sender made the message

// Slot of a worker: temporary peers for refusing unknown workers.
class refusals {
public:
    explicit refusals(worker& owner) noexcept : owner_(owner) {}

    // Refuses a message. The sender of a request, reply or bind learns that its endpoint has no
    // counterpart at this worker; the sender of a pair request, that the worker is not here. Any
    // process may send such messages, so only few senders are refused at the same time; the others
    // repeat their request.
    void refuse(evidence from, const wire::wireup_header& unwanted,
                std::span<const std::byte> address,
                wire::end_reason reason = wire::end_reason::unspecified);

private:
    // Returns the temporary peer for refusing a worker that is not known otherwise. nullptr: the
    // limit of workers that are being refused is reached.
    [[nodiscard]] peer* passing_peer(evidence from, const ucs::security::public_key& identity,
                                     std::span<const std::byte> packed);

    using refused_list = ucs::datastruct::auto_list<peer, &peer::refused_hook>;

    worker& owner_;
    // The oldest first: index 0 for senders without proof, 1 for those with.
    std::array<refused_list, 2> refused_peers_;
    ucs::log::throttle dropped_;
};

}  // namespace ucp::wireup
