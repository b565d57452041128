// Route look-ups: how the kernel would send a packet to an address, and which network stack it is.
#pragma once

#include <cstdint>
#include <string>

#include "ucs/net/ip_address.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::net {

// The route of a packet.
struct route {
    enum class kind : std::uint8_t { none, local, forward, unknown } type = kind::none;
    std::uint32_t interface_index = 0;  // outgoing interface
    std::string interface_name{};
    std::string error{};  // reason if there is no route
};

// A source of routes: the kernel's table, or that of a test. Owner context.
class route_source {
public:
    virtual ~route_source() = default;
    // Returns the route of a packet from `source`, which may be none, to `target`. `through`: index
    // of the interface by which the route must leave; 0: the route that the kernel would choose.
    virtual route find(const ip_address& source, const ip_address& target,
                       std::uint32_t through) = 0;
};

// Queries the kernel by netlink (RTM_GETROUTE). A route over an interface without carrier counts as
// none. If netlink is forbidden, every route is `unknown`. Owner context.
class kernel_routes final : public route_source {
public:
    route find(const ip_address& source, const ip_address& target, std::uint32_t through) override;

private:
    bool open() noexcept;
    bool request_route(const ip_address& source, const ip_address& target,
                       std::uint32_t through) noexcept;
    route read_reply() const;
    bool has_carrier(const std::string& interface) const noexcept;

    unique_fd netlink_;
    std::uint32_t sequence_ = 0;
};

// Returns the same number in all processes of one boot of one host and one network namespace, and
// almost surely a different number elsewhere. It distinguishes 127.0.0.1 (or a bridge address that
// every host has) of this stack from the same address of another stack. Any thread.
[[nodiscard]] std::uint64_t network_identity() noexcept;

}  // namespace ucs::net
