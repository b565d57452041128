#include "ucs/net/ip_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace ucs::net {

ip_address ip_address::v4(std::span<const std::byte, 4> bytes) noexcept {
    ip_address made;
    made.family_ = AF_INET;
    std::copy(bytes.begin(), bytes.end(), made.bytes_.begin());
    return made;
}

ip_address ip_address::v6(std::span<const std::byte, 16> bytes, std::uint32_t scope) noexcept {
    ip_address made;
    made.family_ = AF_INET6;
    std::copy(bytes.begin(), bytes.end(), made.bytes_.begin());
    if (made.is_link_local()) made.scope_ = scope;
    return made;
}

ip_address ip_address::from(const sockaddr& address) noexcept {
    if (address.sa_family == AF_INET) {
        sockaddr_in in{};
        std::memcpy(&in, &address, sizeof in);
        return v4(std::as_bytes(std::span<const in_addr, 1>(&in.sin_addr, 1)));
    }
    if (address.sa_family == AF_INET6) {
        sockaddr_in6 in{};
        std::memcpy(&in, &address, sizeof in);
        return v6(std::as_bytes(std::span<const in6_addr, 1>(&in.sin6_addr, 1)), in.sin6_scope_id);
    }
    return {};
}

bool ip_address::is_link_local() const noexcept {
    if (family_ == AF_INET) return bytes_[0] == std::byte{169} && bytes_[1] == std::byte{254};
    return family_ == AF_INET6 && bytes_[0] == std::byte{0xfe} &&
           (bytes_[1] & std::byte{0xc0}) == std::byte{0x80};
}

std::string ip_address::text() const {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    if (is_none() || inet_ntop(family_, bytes_.data(), buffer.data(), buffer.size()) == nullptr) {
        return "(no address)";
    }
    return buffer.data();
}

socket_address::socket_address(const ip_address& ip, std::uint16_t port) noexcept {
    if (ip.family_ == AF_INET6) {
        sockaddr_in6 in{};
        in.sin6_family = AF_INET6;
        in.sin6_port = htons(port);
        in.sin6_scope_id = ip.scope_;
        std::memcpy(&in.sin6_addr, ip.bytes_.data(), sizeof in.sin6_addr);
        std::memcpy(&storage_, &in, sizeof in);
        size_ = sizeof in;
        return;
    }
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, ip.bytes_.data(), sizeof in.sin_addr);
    std::memcpy(&storage_, &in, sizeof in);
    size_ = sizeof in;
}

socket_address::socket_address(const sockaddr* address, socklen_t length) noexcept {
    if (address == nullptr || length < sizeof address->sa_family) return;
    const socklen_t needed = address->sa_family == AF_INET    ? sizeof(sockaddr_in)
                             : address->sa_family == AF_INET6 ? sizeof(sockaddr_in6)
                                                              : 0;
    if (needed == 0 || length < needed) return;
    std::memcpy(&storage_, address, needed);
    size_ = needed;
}

std::uint16_t socket_address::port() const noexcept {
    // The port has the same offset in both families.
    sockaddr_in in{};
    std::memcpy(&in, &storage_, sizeof in);
    return ntohs(in.sin_port);
}

std::string socket_address::text() const noexcept {
    try {
        const ip_address address = ip();
        return address.family() == AF_INET6 ? fmt::format("[{}]:{}", address.text(), port())
                                            : fmt::format("{}:{}", address.text(), port());
    } catch (const std::bad_alloc&) {
        return "a peer";
    }
}

}  // namespace ucs::net
