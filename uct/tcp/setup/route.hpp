// Reachability of a peer's addresses from one interface, by the kernel's routing table.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ucs/net/route.hpp"
#include "uct/tcp/setup/address.hpp"
#include "uct/tcp/setup/device.hpp"

namespace uct::tcp {

using ucs::net::route;
using ucs::net::route_source;

// Decides whether the interface can reach a peer, and by which address. The kernel's results are
// cached per host, not per port: ports do not matter to routes, and each new client has a new one.
// Owned by the interface; owner context.
class reach {
public:
    reach(const device& own, std::uint64_t network_id, std::vector<int> families,
          route_source& routes);

    // Own and peer's address to connect with, in the order to try; or the reason if there is none.
    struct path {
        ip_address from;
        listen_point to;
    };
    struct answer {
        std::vector<path> paths;
        std::string reason;
    };
    [[nodiscard]] answer to(const address& peer);

    // Drops the cached results, because routes may have changed.
    void forget() noexcept { known_.clear(); }

private:
    [[nodiscard]] answer decide(const address& peer);
    [[nodiscard]] std::string why_not_by_lo(const ip_address& source, const ip_address& target);
    [[nodiscard]] std::string why_not(const ip_address& source, const listen_point& target,
                                      bool same_network);
    [[nodiscard]] const listen_point& own(int family) const noexcept {
        return family == AF_INET ? device_.v4 : device_.v6;
    }

    struct key {
        std::uint64_t network_id;
        bool loopback;
        ip_address v4, v6;
        auto operator<=>(const key&) const noexcept = default;
    };
    // Pairs of addresses that reach the host, in the order to try.
    struct address_pair {
        ip_address from, to;
    };

    device device_;
    std::uint64_t network_id_;
    std::vector<int> families_;
    route_source& routes_;
    std::map<key, std::vector<address_pair>> known_;
};

}  // namespace uct::tcp
