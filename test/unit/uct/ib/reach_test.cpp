#include "uct/ib/base/device/reach.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace uct::ib;
using namespace ucs::net;

namespace {

gid_entry gid_of_ipv4(std::uint8_t network, std::uint8_t host, std::uint32_t interface = 2) {
    return {.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, network, host},
            .interface_index = interface,
            .type = gid_type::roce_v2};
}

gid_entry gid_of_ipv6(std::uint8_t first, std::uint8_t second) {
    gid_entry made = gid_of_ipv4(0, 1);
    made.gid = {first, second, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    return made;
}

// Routes by the text of their target.
class known_routes final : public ucs::net::route_source {
public:
    route find(const ip_address& source, const ip_address& target, std::uint32_t through) override {
        ++asked;
        last_source = source;
        last_through = through;
        const auto found = table.find(target.text());
        return found == table.end() ? route{route::kind::none, 0, {}, "Network is unreachable"}
                                    : found->second;
    }
    std::map<std::string, route> table;
    unsigned asked = 0;
    ip_address last_source;
    std::uint32_t last_through = 0;
};

}  // namespace

TEST_CASE("a RoCE peer is reachable if the port's interface has a route to its address") {
    known_routes routes;
    routes.table["10.9.0.2"] = {route::kind::forward, 2, "net0", {}};
    routes.table["10.9.0.1"] = {route::kind::local, 2, "net0", {}};
    reach from(gid_of_ipv4(0, 1), routes);
    CHECK(from.why_not(gid_of_ipv4(0, 2)).empty());
    CHECK(routes.last_source == gid_of_ipv4(0, 1).address());
    CHECK(routes.last_through == 2);
    CHECK(from.why_not(gid_of_ipv4(0, 1)).empty());
    CHECK_THAT(from.why_not(gid_of_ipv4(7, 1)),
               Catch::StartsWith("there is no route from 10.9.0.1 to 10.9.7.1") &&
                   Catch::EndsWith("Network is unreachable"));
}

TEST_CASE("routes to RoCE peers are cached, and failures are looked up again") {
    known_routes routes;
    reach from(gid_of_ipv4(0, 1), routes);
    CHECK_FALSE(from.why_not(gid_of_ipv4(0, 2)).empty());
    routes.table["10.9.0.2"] = {route::kind::forward, 2, "net0", {}};
    CHECK(from.why_not(gid_of_ipv4(0, 2)).empty());
    routes.table.clear();
    CHECK(from.why_not(gid_of_ipv4(0, 2)).empty());
    CHECK(routes.asked == 2);
}

TEST_CASE("if routes cannot be looked up, RoCE peers count as reachable") {
    known_routes routes;
    routes.table["10.9.0.2"] = {route::kind::unknown, 0, {}, {}};
    reach from(gid_of_ipv4(0, 1), routes);
    CHECK(from.why_not(gid_of_ipv4(0, 2)).empty());
}

TEST_CASE("addresses of a link and of a network do not reach each other") {
    known_routes routes;
    routes.table["fe80::1"] = routes.table["fd00::1"] = {route::kind::forward, 2, "net0", {}};
    reach from(gid_of_ipv6(0xfe, 0x80), routes);
    CHECK_THAT(from.why_not(gid_of_ipv6(0xfd, 0)),
               Catch::Equals("fe80::1 is link-local and fd00::1 is not"));
    CHECK(from.why_not(gid_of_ipv6(0xfe, 0x80)).empty());
}

TEST_CASE("GIDs of other network namespaces are used only if there is no other") {
    known_routes routes;
    routes.table["10.9.0.1"] = {route::kind::local, 2, "net0", {}};
    routes.table["10.9.1.1"] = {route::kind::forward, 2, "net0", {}};
    gid_entry table[] = {gid_of_ipv4(1, 1), gid_of_ipv6(0xfd, 0), gid_of_ipv4(0, 1)};
    for (std::uint32_t i = 0; i < 3; ++i)
        table[i].index = i;
    table[2].type = gid_type::roce_v1;  // less routable, but the only local one
    find_own(table, routes);
    CHECK_FALSE(table[0].is_local);
    CHECK_FALSE(table[1].is_local);
    CHECK(table[2].is_local);
    CHECK(choose_gid(table)->index == 2);
    CHECK(choose_gid(std::span(table).first(2))->index == 0);
}

TEST_CASE("ports of another link, partition, family or InfiniBand subnet are unreachable") {
    const address own{.link = gid_type::roce_v2, .pkey = 0xffff, .gid = gid_of_ipv4(0, 1).gid};
    address peer = own;
    peer.gid = gid_of_ipv4(7, 2).gid;
    CHECK(reason_apart(own, peer).empty());  // the routing table may know more

    peer.gid = gid_of_ipv6(0xfd, 0).gid;
    CHECK(reason_apart(own, peer) == "its address fd00::1 is of another family than 10.9.0.1");
    peer = own;
    peer.link = gid_type::roce_v1;
    CHECK(reason_apart(own, peer) == "its port is RoCE v1, and this one RoCE v2");
    peer = own;
    peer.pkey = 0x7fff;
    CHECK(reason_apart(own, peer).empty());
    CHECK_FALSE(reason_apart(peer, peer).empty());  // limited members only talk to full ones
    peer.pkey = 0x8001;
    CHECK(reason_apart(own, peer) == "its partition is 0x8001, and this one's 0xffff");
}

TEST_CASE("another InfiniBand subnet is unreachable, whatever its prefix") {
    address own{.pkey = 0xffff, .gid = gid_of_ipv6(0xfe, 0x80).gid};
    address peer = own;
    peer.gid.back() = 9;
    CHECK(reason_apart(own, peer).empty());
    peer.gid = gid_of_ipv6(0xfe, 0xc0).gid;
    CHECK(reason_apart(own, peer) == "it is in another InfiniBand subnet");
    own.gid = gid_of_ipv6(0xfe, 0xc1).gid;
    CHECK(reason_apart(own, peer) == "it is in another InfiniBand subnet");
}
