// How packets leave a port.
#pragma once

#include "uct/ib/base/address.hpp"
#include "uct/ib/base/settings.hpp"

namespace uct::ib {

// What a port gives to everything that is sent from it. Value type.
struct path_setup {
    std::uint8_t number = 1;  // of the port
    std::uint8_t gid_index = 0;
    std::uint16_t pkey_index = 0;
    std::uint8_t service_level = 0;
    std::uint8_t traffic_class = 0;
    std::uint8_t hop_limit = 255;
};

// Of a port with that GID and the user's options. Pure.
[[nodiscard]] path_setup path_from(std::uint8_t port, std::uint16_t pkey_index,
                                   const gid_entry& gid, const settings& options) noexcept;

// Returns whether packets to the peer have a route header and go by its GID. Else they go by its
// LID alone. Pure.
[[nodiscard]] inline bool needs_route(const address& peer) noexcept {
    return peer.link != gid_type::infiniband || peer.lid == 0;
}

// The way from there to a peer: an address vector of verbs. Pure.
[[nodiscard]] ibv_ah_attr way_to(const address& peer, const path_setup& from) noexcept;

}  // namespace uct::ib
