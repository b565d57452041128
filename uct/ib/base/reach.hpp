// Whether packets find their way to a peer.
#pragma once

#include <set>
#include <string>

#include "uct/ib/base/address.hpp"

namespace uct::ib {

// Why two ports are no neighbours, by what their addresses say: other links, partitions, families
// of addresses or InfiniBand subnets. In words for people; empty: nothing speaks against it.
// Peers in another InfiniBand subnet would need a path record of the subnet's manager, which
// nobody asks for here, and their LIDs name other ports in this one. Pure.
[[nodiscard]] std::string why_apart(const address& own, const address& peer);

// RoCE v2 is UDP: the kernel looks the peer's address up in its routing table when a queue pair
// connects, among the routes of the network interface below the port, and refuses or waits for an
// answer of the neighbour. The table says so before. Ways that were found are remembered, others
// are asked for again: a cable may be back. Owned by the interface; owner context.
class reach {
public:
    reach(const gid_entry& own, ucs::net::route_source& routes) noexcept
        : own_(own), routes_(routes) {}

    // In words for people; empty: there is a way, or nobody may ask.
    [[nodiscard]] std::string why_not(const gid_entry& peer);

private:
    const gid_entry own_;
    ucs::net::route_source& routes_;
    std::set<raw_gid> known_;
};

}  // namespace uct::ib
