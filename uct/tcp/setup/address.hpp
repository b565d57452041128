// Packed addresses, by which peers find a tcp interface.
//
// Layout, little-endian, at most 60 bytes:
//   0  u8   version, now 2
//   1  u8   flags: 1 = has IPv4, 2 = has IPv6, 4 = loopback device; other bits must be 0
//   2  u8   prefix length of the IPv4 network
//   3  u8   prefix length of the IPv6 network
//   4  u64  interface id: the first 8 bytes of the interface's public key, never 0
//   12 u64  identity of the network namespace (see ucs/net/route.hpp)
//   20      16 bytes secret of the interface, see ucs::security::worker_secret
//   36 u16  port, 4 bytes IPv4 address   (when flag 1)
//      u16  port, 16 bytes IPv6 address  (when flag 2)
// Peers whose addresses have another version are unreachable.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "ucs/security/key.hpp"
#include "uct/tcp/ip_address.hpp"

namespace uct::tcp {

// One listening socket of the interface.
struct listen_point {
    ip_address ip;
    std::uint16_t port = 0;
    std::uint8_t prefix = 0;
};

// Contents of a packed address. Value type.
struct address {
    static constexpr std::size_t max_size = 60;

    std::uint64_t iface_id = 0;
    std::uint64_t network_id = 0;
    std::array<std::byte, ucs::security::worker_secret::size> secret{};
    bool loopback = false;
    listen_point v4;  // v4.ip.is_none(): no IPv4
    listen_point v6;

    [[nodiscard]] std::size_t packed_size() const noexcept;
    void pack(std::span<std::byte> into) const noexcept;  // packed_size() bytes

    // Returns nothing if the bytes are malformed. `scope` is the index of the own interface, for
    // link-local peers.
    [[nodiscard]] static std::optional<address> parse(std::span<const std::byte> from,
                                                      std::uint32_t scope) noexcept;
};

}  // namespace uct::tcp
