#include "uct/tcp/setup/route.hpp"

#include <catch2/catch.hpp>

using namespace uct::tcp;

namespace {

// Returns the same route for every query and counts the queries.
class fixed_routes final : public route_source {
public:
    route find(const ip_address&, const ip_address&, std::uint32_t) override {
        ++asked;
        return answer;
    }
    route answer;
    unsigned asked = 0;
};

ip_address ip(int last) {
    const std::array<std::byte, 4> bytes{std::byte{10}, std::byte{1}, std::byte{2},
                                         std::byte(last)};
    return ip_address::v4(bytes);
}

device eth0() {
    device own;
    own.name = "eth0";
    own.index = 2;
    own.v4 = {ip(1), 0, 24};
    return own;
}

address peer(int last, std::uint64_t network = 2) {
    address made;
    made.iface_id = 5;
    made.network_id = network;
    made.v4 = {ip(last), 1000, 24};
    return made;
}

constexpr std::uint64_t this_network = 1;

}  // namespace

TEST_CASE("a peer whose route leaves by the own interface is reachable") {
    fixed_routes routes;
    routes.answer = {route::kind::forward, 2, "eth0"};
    reach from(eth0(), this_network, {AF_INET, AF_INET6}, routes);
    const auto answer = from.to(peer(3));
    CHECK(answer.reason.empty());
    REQUIRE(answer.paths.size() == 1);
    CHECK(answer.paths[0].to.ip == ip(3));
    CHECK(answer.paths[0].from == ip(1));
}

TEST_CASE("a route by another interface, or a missing route, is explained") {
    fixed_routes routes;
    reach from(eth0(), this_network, {AF_INET}, routes);
    routes.answer = {route::kind::forward, 3, "docker0"};
    CHECK(from.to(peer(3)).reason == "the route to 10.1.2.3 goes through docker0, not eth0");
    from.forget();
    routes.answer = {.type = route::kind::none, .error = "Network is unreachable"};
    CHECK(from.to(peer(3)).reason == "there is no route to 10.1.2.3: Network is unreachable");
    CHECK(from.to(peer(3)).paths.empty());
}

TEST_CASE("an address that this host also has is not the peer's") {
    fixed_routes routes;
    routes.answer = {route::kind::local, 1, "lo"};
    reach from(eth0(), this_network, {AF_INET}, routes);
    CHECK(from.to(peer(1)).reason == "10.1.2.1 is an address of this host as well");
    CHECK(from.to(peer(1, this_network)).reason.empty());
    CHECK(from.to(peer(9, this_network)).reason ==
          "10.1.2.9 belongs to another interface of this host than eth0");
}

TEST_CASE("if routes cannot be looked up, the peer counts as reachable") {
    fixed_routes routes;
    routes.answer = {.type = route::kind::unknown};
    reach from(eth0(), this_network, {AF_INET}, routes);
    CHECK(from.to(peer(3)).paths.size() == 1);
}

TEST_CASE("lo reaches lo of the same network namespace and nothing else") {
    fixed_routes routes;
    device own = eth0();
    own.kind = device_kind::loopback;
    reach from(own, this_network, {AF_INET}, routes);
    address same = peer(1, this_network);
    CHECK_FALSE(from.to(same).reason.empty());
    same.loopback = true;
    CHECK(from.to(same).reason.empty());
    same.network_id = this_network + 1;
    CHECK(from.to(same).reason == "it is lo of another host or network namespace");
    CHECK(routes.asked == 0);
}

TEST_CASE("lo reaches only addresses of this host") {
    fixed_routes routes;
    device own = eth0();
    own.kind = device_kind::loopback;
    reach from(own, this_network, {AF_INET}, routes);
    address elsewhere = peer(7, this_network);
    elsewhere.loopback = true;
    for (const auto kind : {route::kind::forward, route::kind::none, route::kind::unknown}) {
        routes.answer = {.type = kind};
        CHECK(from.to(elsewhere).reason.starts_with(kind == route::kind::unknown
                                                        ? "10.1.2.7 may be no address of this host"
                                                        : "10.1.2.7 is no address of this host"));
        CHECK(from.to(elsewhere).paths.empty());
    }
    routes.answer = {route::kind::local, 1, "lo"};
    CHECK(from.to(elsewhere).paths.size() == 1);
}

TEST_CASE("an address family of only one side gives no path") {
    fixed_routes routes;
    reach from(eth0(), this_network, {AF_INET6}, routes);
    CHECK(from.to(peer(3)).reason == "both sides have no address family in common");
}

TEST_CASE("an unreachable host is looked up again") {
    fixed_routes routes;
    routes.answer = {.type = route::kind::none, .error = "eth0 has no carrier"};
    reach from(eth0(), this_network, {AF_INET}, routes);
    CHECK(from.to(peer(3)).reason == "there is no route to 10.1.2.3: eth0 has no carrier");
    routes.answer = {route::kind::forward, 2, "eth0"};
    CHECK(from.to(peer(3)).reason.empty());
}

// Regression test. Ports were part of the cache's key, so each client that came and went left an
// entry.
TEST_CASE("the kernel is asked once per host, whatever the port") {
    fixed_routes routes;
    routes.answer = {route::kind::forward, 2, "eth0"};
    reach from(eth0(), this_network, {AF_INET}, routes);
    for (std::uint16_t port = 1000; port < 1010; ++port) {
        address fresh = peer(3);
        fresh.v4.port = port;
        const auto answer = from.to(fresh);
        REQUIRE(answer.paths.size() == 1);
        CHECK(answer.paths[0].to.ip == ip(3));
        CHECK(answer.paths[0].to.port == port);
        CHECK(answer.paths[0].from == ip(1));
    }
    CHECK(routes.asked == 1);
}

TEST_CASE("the kernel is asked once per address") {
    fixed_routes routes;
    routes.answer = {route::kind::forward, 2, "eth0"};
    reach from(eth0(), this_network, {AF_INET}, routes);
    for (int i = 0; i < 10; ++i)
        CHECK(from.to(peer(3)).reason.empty());
    CHECK(routes.asked == 1);
}
