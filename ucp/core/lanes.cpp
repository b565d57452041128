#include "ucp/core/lanes.hpp"

#include <new>

namespace ucp {

std::vector<std::byte> address_of(const uct::iface& iface) {
    std::vector<std::byte> made(iface.attr().address_length);
    iface.pack_address(made);
    return made;
}

std::vector<std::byte> connection_of(const lane& used) {
    std::vector<std::byte> made(used.attr().connection_length);
    used.endpoint->pack_connection(made);
    return made;
}

rail_share* peer_lanes::share_of(const uct::ep& rail) noexcept {
    lane& first = is_shared ? message : memory;
    if (first.endpoint.get() == &rail) return &first.share;
    for (lane& each : more_rails) {
        if (each.endpoint.get() == &rail) return &each.share;
    }
    return nullptr;
}

void peer_lanes::abort() noexcept {
    if (message.is_open()) message.endpoint->abort();
    for (lane& each : more_rails) {
        if (each.is_open()) each.endpoint->abort();
    }
}

std::string peer_lanes::peer_name() const noexcept {
    try {
        return is_open() ? message.endpoint->peer_name() : "not connected yet";
    } catch (const std::bad_alloc&) {
        return "a peer";
    }
}

}  // namespace ucp
