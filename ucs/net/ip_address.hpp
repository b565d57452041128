// IPv4 and IPv6 addresses, and socket addresses made from them.
#pragma once

#include <netinet/in.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ucs::net {

// Address of one host interface, with the scope (an interface index) that link-local IPv6
// addresses need. Value type, any thread.
class ip_address {
public:
    ip_address() noexcept = default;  // "none"
    static ip_address v4(std::span<const std::byte, 4> bytes) noexcept;
    static ip_address v6(std::span<const std::byte, 16> bytes, std::uint32_t scope) noexcept;
    static ip_address from(const sockaddr& address) noexcept;  // none for other families

    [[nodiscard]] bool is_none() const noexcept { return family_ == AF_UNSPEC; }
    [[nodiscard]] int family() const noexcept { return family_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return {bytes_.data(), family_ == AF_INET ? 4U : family_ == AF_INET6 ? 16U : 0U};
    }
    [[nodiscard]] bool is_link_local() const noexcept;
    [[nodiscard]] std::string text() const;

    auto operator<=>(const ip_address&) const noexcept = default;

private:
    int family_ = AF_UNSPEC;
    std::uint32_t scope_ = 0;
    std::array<std::byte, 16> bytes_{};
    friend class socket_address;
};

// A socket address for bind(), connect() and accept(). Value type.
class socket_address {
public:
    socket_address() noexcept = default;
    socket_address(const ip_address& ip, std::uint16_t port) noexcept;
    // Copies the address of a program. The family is AF_UNSPEC if the address is not IPv4 or IPv6,
    // or too short.
    socket_address(const sockaddr* address, socklen_t length) noexcept;

    [[nodiscard]] sockaddr* data() noexcept { return reinterpret_cast<sockaddr*>(&storage_); }
    [[nodiscard]] const sockaddr* data() const noexcept {
        return reinterpret_cast<const sockaddr*>(&storage_);
    }
    [[nodiscard]] socklen_t size() const noexcept { return size_; }
    [[nodiscard]] const sockaddr_storage& storage() const noexcept { return storage_; }
    [[nodiscard]] socklen_t* size_to_fill() noexcept { return &size_; }
    [[nodiscard]] ip_address ip() const noexcept { return ip_address::from(*data()); }
    [[nodiscard]] std::uint16_t port() const noexcept;
    // "10.0.0.1:4242", "[fd00::1]:4242"; a generic text if memory is short, because error messages
    // use it.
    [[nodiscard]] std::string text() const noexcept;

private:
    sockaddr_storage storage_{};
    socklen_t size_ = sizeof storage_;
};

}  // namespace ucs::net
