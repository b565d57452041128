// Attributes of the packets that leave a port.
#pragma once

#include "uct/ib/base/device/address.hpp"
#include "uct/ib/base/settings.hpp"

namespace uct::ib {

// Attributes of everything that is sent from a port. Value type.
struct path_setup {
    std::uint8_t number = 1;  // of the port
    std::uint8_t gid_index = 0;
    std::uint16_t pkey_index = 0;
    std::uint8_t service_level = 0;
    std::uint8_t traffic_class = 0;
    std::uint8_t hop_limit = 255;
};

// Returns the attributes for a port with that GID and the user's options. Pure.
[[nodiscard]] path_setup path_from(std::uint8_t port, std::uint16_t pkey_index,
                                   const gid_entry& gid, const settings& options) noexcept;

// Returns true if packets to the peer have a route header and are routed by its GID. Otherwise they
// are routed by its LID alone. Pure.
[[nodiscard]] inline bool needs_route(const address& peer) noexcept {
    return peer.link != gid_type::infiniband || peer.lid == 0;
}

// Returns the address vector of verbs from the port to a peer. Pure.
[[nodiscard]] ibv_ah_attr address_vector_to(const address& peer, const path_setup& from) noexcept;

}  // namespace uct::ib
