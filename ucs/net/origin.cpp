#include "ucs/net/origin.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace ucs::net {
namespace {

std::uint64_t number_of(std::span<const std::byte> bytes) noexcept {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
    return number;
}

// Returns whether the bytes are an IPv4 address in the form that dual-stack sockets report.
bool is_mapped_ipv4(std::span<const std::byte> bytes) noexcept {
    constexpr std::array<std::uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

}  // namespace

origin origin::host(const ip_address& ip) noexcept {
    const std::span<const std::byte> bytes = ip.bytes();
    if (ip.family() == AF_INET) return {kind::ipv4, number_of(bytes)};
    if (ip.family() != AF_INET6) return {};
    if (is_mapped_ipv4(bytes)) return {kind::ipv4, number_of(bytes.subspan(12))};
    // All hosts of a link share the prefix of its local addresses.
    if (ip.is_link_local()) return {kind::link_local, number_of(bytes.subspan(8))};
    return {kind::ipv6, number_of(bytes.first(8))};
}

origin origin::user(uid_t uid) noexcept {
    return {kind::user, uid};
}

origin origin::of_peer(int socket) noexcept {
    socket_address peer;
    if (::getpeername(socket, peer.data(), peer.size_to_fill()) != 0) return {};
    if (peer.data()->sa_family != AF_UNIX) return host(peer.ip());
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {};
    return user(credentials.uid);
}

}  // namespace ucs::net
