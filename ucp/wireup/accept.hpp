// Endpoints that the program or a peer asks for.
#pragma once

#include "ucp/core/ep.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/security/key_pair.hpp"

namespace ucp::wireup {

// Returns an endpoint to the worker with this address. One that a request of that worker has made
// is used first.
ucs::result<ep*> create_ep(worker& owner, const void* packed_address, const ep_params& params);
// Returns the endpoint that belongs to the peer's request, and makes it if there is none.
// `remote_ep`: the id of the peer's endpoint, which the request hides.
ep* accept(worker& owner, const wire::wireup_header& request, std::uint64_t remote_ep,
           std::span<const std::byte> address);
// Returns the peer that sent a proven request, see peer_table::intern. If the peer is new, others
// may have to make room for it.
peer& intern_asking(worker& owner, const ucs::security::public_key& identity,
                    std::span<const std::byte> packed);
// Returns whether the key is this worker's own but the address is none of its two. No peer proves
// an address to the worker itself, so the worker compares it.
[[nodiscard]] bool is_false_own_address(const worker& owner,
                                        const ucs::security::public_key& identity,
                                        std::span<const std::byte> packed) noexcept;
// Handles a server's bind at its client: the client has the server's worker as its peer from then
// on. Makes no lanes. Returns false if the client failed, because the address is malformed or
// another worker's.
bool bind(worker& owner, ep& client, const wire::wireup_header& header,
          std::span<const std::byte> address);

}  // namespace ucp::wireup
