// The source that connections are counted by: a host, a network of IPv6, or a user of this host.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>

#include "ucs/net/ip_address.hpp"

namespace ucs::net {

// One party as far as quotas are concerned. An IPv4 address is one party, and so is an IPv6 prefix
// of 64 bits, because a host may choose the other 64 bits freely. Over a Unix socket the user at
// the other end is the party. Value type, any thread.
class origin {
public:
    origin() noexcept = default;  // unknown: all unknown ones are one party
    [[nodiscard]] static origin host(const ip_address& ip) noexcept;
    [[nodiscard]] static origin user(uid_t uid) noexcept;
    // Asks the kernel for the other end of a connected socket.
    [[nodiscard]] static origin of_peer(int socket) noexcept;

    auto operator<=>(const origin&) const noexcept = default;

private:
    enum class kind : std::uint8_t { unknown, ipv4, ipv6, link_local, user };
    origin(kind of_kind, std::uint64_t number) noexcept : kind_(of_kind), number_(number) {}

    kind kind_ = kind::unknown;
    std::uint64_t number_ = 0;
};

}  // namespace ucs::net
