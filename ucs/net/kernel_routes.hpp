// Looks up routes in the kernel's routing table.
#pragma once

#include "ucs/net/route.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::net {

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

}  // namespace ucs::net
