// Remote memory of a peer whose messages the test sends itself.
#pragma once

#include <catch2/catch.hpp>

#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/mem/map.hpp"
#include "ucp/mem/rkey.hpp"

namespace ucp_test {

// A network without lanes to the peer's memory, so that all operations use messages.
inline uct::sim::parameters without_memory_lanes() {
    uct::sim::parameters network;
    network.ops.bits &= ~(static_cast<std::uint32_t>(uct::op::get_zcopy) |
                          static_cast<std::uint32_t>(uct::op::put_zcopy));
    return network;
}

// Returns a key to memory of the peer, which need not exist.
inline std::unique_ptr<ucp::mem::rkey> key_to_peer(raw_world& in) {
    const ucp::mem::key key{.owner = {5, 6},
                            .base = 4096,
                            .length = 4096,
                            .allowed = ucp::mem::all_access,
                            .exported = false,
                            .block = {}};
    auto made = ucp::mem::unpack(in.context->memories(), ucp::mem::pack(key).bytes.data());
    REQUIRE(made.ok());
    return std::move(*made);
}

}  // namespace ucp_test
