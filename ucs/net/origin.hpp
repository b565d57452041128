// The source to which a connection is counted: an IPv4 host, an IPv6 network, or a user of this
// host.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>

#include "ucs/net/ip_address.hpp"

namespace ucs::net {

// One source for quotas. An IPv4 address is one source. An IPv6 prefix of 64 bits is one source,
// because a host chooses the other 64 bits freely. Over a Unix socket the source is the user at the
// other end. Value type, any thread.
class origin {
public:
    origin() noexcept = default;  // unknown: all unknown origins count as one
    [[nodiscard]] static origin host(const ip_address& ip) noexcept;
    [[nodiscard]] static origin user(uid_t uid) noexcept;
    // Returns the origin of the peer of a connected socket, as the kernel reports it.
    [[nodiscard]] static origin of_peer(int socket) noexcept;

    auto operator<=>(const origin&) const noexcept = default;

private:
    enum class kind : std::uint8_t { unknown, ipv4, ipv6, link_local, user };
    origin(kind of_kind, std::uint64_t number) noexcept : kind_(of_kind), number_(number) {}

    kind kind_ = kind::unknown;
    std::uint64_t number_ = 0;
};

}  // namespace ucs::net
