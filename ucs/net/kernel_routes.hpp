// The kernel's routing table.
#pragma once

#include "ucs/net/route.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::net {

// Asks by netlink (RTM_GETROUTE). A route over an interface without carrier is none. Where netlink
// is forbidden every route is `unknown`. Owner context.
class kernel_routes final : public route_source {
public:
    route find(const ip_address& source, const ip_address& target, std::uint32_t through) override;

private:
    bool open() noexcept;
    bool ask(const ip_address& source, const ip_address& target, std::uint32_t through) noexcept;
    route read_answer() const;
    bool has_carrier(const std::string& interface) const noexcept;

    unique_fd netlink_;
    std::uint32_t sequence_ = 0;
};

}  // namespace ucs::net
