#include "uct/tcp/setup/route.hpp"

#include <fmt/format.h>

#include <utility>

namespace uct::tcp {

namespace {

// Limits the cache, because hosts may come and go with ever new addresses.
constexpr std::size_t most_known = 1024;

}  // namespace

reach::reach(const device& own, std::uint64_t network_id, std::vector<int> families,
             route_source& routes)
    : device_(own), network_id_(network_id), families_(std::move(families)), routes_(routes) {}

reach::answer reach::to(const address& peer) {
    const key host{peer.network_id, peer.loopback, peer.v4.ip, peer.v6.ip};
    if (const auto cached = known_.find(host); cached != known_.end()) {
        answer made;
        for (const address_pair& each : cached->second)
            made.paths.push_back({each.from, each.to == peer.v4.ip ? peer.v4 : peer.v6});
        return made;
    }
    answer found = decide(peer);
    // Failures are not cached: the next call looks again, because a cable may be back.
    if (!found.reason.empty()) return found;
    if (known_.size() >= most_known) known_.clear();
    std::vector<address_pair> pairs;
    for (const path& each : found.paths)
        pairs.push_back({each.from, each.to.ip});
    known_.emplace(host, std::move(pairs));
    return found;
}

reach::answer reach::decide(const address& peer) {
    const bool same_network = peer.network_id == network_id_;
    const bool loopback = device_.kind == device_kind::loopback;
    if (loopback != peer.loopback) {
        return {{},
                loopback ? "lo reaches only other lo interfaces"
                         : "the peer's interface is lo, which only lo reaches"};
    }
    if (loopback && !same_network) {
        return {{}, "it is lo of another host or network namespace"};
    }
    answer made;
    for (const int family : families_) {
        const listen_point& target = family == AF_INET ? peer.v4 : peer.v6;
        const ip_address& source = own(family).ip;
        if (target.ip.is_none() || source.is_none()) continue;
        std::string reason =
            loopback ? why_not_by_lo(source, target.ip) : why_not(source, target, same_network);
        if (reason.empty()) {
            made.paths.push_back({source, target});
        } else if (made.reason.empty()) {
            made.reason = std::move(reason);
        }
    }
    if (!made.paths.empty()) {
        made.reason.clear();
    } else if (made.reason.empty()) {
        made.reason = "both sides have no address family in common";
    }
    return made;
}

// The peer claims that this is an address of lo. Any other address would leave the host.
std::string reach::why_not_by_lo(const ip_address& source, const ip_address& target) {
    if (target == source) return {};
    switch (routes_.find(source, target, 0).type) {
        case route::kind::local:
            return {};
        case route::kind::unknown:
            return fmt::format("{} may be no address of this host: routes cannot be looked up here",
                               target.text());
        default:
            return fmt::format("{} is no address of this host", target.text());
    }
}

std::string reach::why_not(const ip_address& source, const listen_point& target,
                           bool same_network) {
    const std::string to = target.ip.text();
    if (source.is_link_local() != target.ip.is_link_local()) {
        return fmt::format("{} is link-local and {} is not",
                           target.ip.is_link_local() ? to : source.text(),
                           target.ip.is_link_local() ? source.text() : to);
    }
    const route found = routes_.find(source, target.ip, 0);
    switch (found.type) {
        case route::kind::unknown:
            return {};  // the attempt to connect finds out
        case route::kind::none:
            return fmt::format("there is no route to {}: {}", to, found.error);
        case route::kind::local:
            // Many hosts may have a docker0 with the same address.
            if (!same_network) return fmt::format("{} is an address of this host as well", to);
            if (target.ip == source) return {};
            return fmt::format("{} belongs to another interface of this host than {}", to,
                               device_.name);
        case route::kind::forward:
            break;
    }
    if (found.interface_index == device_.index) return {};
    return fmt::format("the route to {} goes through {}, not {}", to, found.interface_name,
                       device_.name);
}

}  // namespace uct::tcp
