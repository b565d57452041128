// Reachability of peers over a port.
#pragma once

#include <set>
#include <string>

#include "uct/ib/base/device/address.hpp"

namespace uct::ib {

// Returns why two ports cannot reach each other according to their addresses: other links,
// partitions, families of addresses or InfiniBand subnets. The result is text for log lines, empty
// if no reason was found. Peers in another InfiniBand subnet would need a path record of the subnet
// manager, which Hawser does not query, and their LIDs name other ports in this subnet. Pure.
[[nodiscard]] std::string reason_apart(const address& own, const address& peer);

// RoCE v2 is UDP: when a queue pair connects, the kernel looks the peer's address up in its routing
// table, among the routes of the network interface below the port, and then resolves the neighbour.
// This class consults the routing table in advance. Found routes are cached; failures are not,
// because a cable may be back. Owned by the interface; owner context.
class reach {
public:
    reach(const gid_entry& own, ucs::net::route_source& routes) noexcept
        : own_(own), routes_(routes) {}

    // Returns the reason as text for log lines. Empty if there is a route, or routes cannot be
    // queried.
    [[nodiscard]] std::string why_not(const gid_entry& peer);

private:
    const gid_entry own_;
    ucs::net::route_source& routes_;
    std::set<raw_gid> known_;
};

}  // namespace uct::ib
