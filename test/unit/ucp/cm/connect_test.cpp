#include "ucp/cm/connect.hpp"

#include <arpa/inet.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>

#include "ucs/config/option.hpp"

using ucp::cm::transport;

namespace {

using list = std::vector<transport>;

list parsed(const char* text) {
    ucp::cm::transport_list made;
    const auto& type = ucs::config::value_type_of<ucp::cm::transport_list>();
    REQUIRE(type.parse(text, &made) == UCS_OK);
    ucp::cm::transport_list again;
    REQUIRE(type.parse(type.print(&made), &again) == UCS_OK);
    CHECK(again.order == made.order);
    return made.order;
}

uct::tcp::socket_address address_of(const char* ip) {
    sockaddr_storage where{};
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    if (::inet_pton(AF_INET, ip, &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        std::memcpy(&where, &v4, sizeof v4);
    } else {
        REQUIRE(::inet_pton(AF_INET6, ip, &v6.sin6_addr) == 1);
        v6.sin6_family = AF_INET6;
        std::memcpy(&where, &v6, sizeof v6);
    }
    return {reinterpret_cast<const sockaddr*>(&where), sizeof where};
}

}  // namespace

TEST_CASE("clients try the transports of the option in its order", "[cm]") {
    CHECK(parsed("rdmacm,tcp") == list{transport::rdmacm, transport::tcp});
    CHECK(parsed("tcp,rdmacm") == list{transport::tcp, transport::rdmacm});
    CHECK(parsed("all") == list{transport::rdmacm, transport::tcp});
    CHECK(parsed("tcp,all") == list{transport::tcp, transport::rdmacm});
    CHECK(parsed("sockcm,tcp") == list{transport::tcp});
}

TEST_CASE("without RDMA devices rdmacm is not used", "[cm]") {
    const ucp::cm::transport_list both{{transport::rdmacm, transport::tcp}};
    CHECK(both.usable(true) == both.order);
    CHECK(both.usable(false) == list{transport::tcp});
    CHECK(ucp::cm::transport_list{{transport::rdmacm}}.usable(false).empty());
}

TEST_CASE("loopback addresses belong to no RDMA device", "[cm]") {
    for (const char* own : {"127.0.0.1", "127.9.9.9", "::1"})
        CHECK_FALSE(uct::rdmacm::may_reach(address_of(own)));
    for (const char* other : {"10.9.0.1", "192.0.2.1", "fe80::1", "2001:db8::7"})
        CHECK(uct::rdmacm::may_reach(address_of(other)));
    const auto refused = ucp::cm::connect(transport::rdmacm, address_of("127.0.0.1"), {});
    CHECK(refused.made == nullptr);
    CHECK(refused.error == ENODEV);
}
