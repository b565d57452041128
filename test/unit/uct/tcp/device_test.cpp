#include "uct/tcp/setup/device.hpp"

#include <catch2/catch.hpp>

using namespace uct::tcp;

TEST_CASE("an interface that cannot be used says why") {
    device one;
    one.kind = device_kind::bridge;
    CHECK(one.why_unusable(true) == "interface is down");
    one.up = true;
    CHECK(one.why_unusable(true) == "interface has no carrier");
    one.carrier = true;
    CHECK(one.why_unusable(true) == "has no IPv4 or IPv6 address");
    constexpr std::array<std::byte, 4> four{std::byte{10}};
    one.v4.ip = ip_address::v4(four);
    CHECK(one.why_unusable(true).empty());
    CHECK(one.why_unusable(false) == "is a bridge, and UCX_TCP_BRIDGE_ENABLE is n");
}

TEST_CASE("hardware ranks above stacked interfaces, and these above bridges and tunnels") {
    const double speed = 25e9 / 8;
    device_cost better = estimate(device_kind::hardware, speed);
    for (const device_kind kind :
         {device_kind::stacked, device_kind::bridge, device_kind::tunnel}) {
        const device_cost worse = estimate(kind, speed);
        CHECK(worse.latency > better.latency);
        CHECK(worse.bandwidth < better.bandwidth);
        better = worse;
    }
}

TEST_CASE("the loopback interface of this host is found") {
    bool found = false;
    for (const device& one : list_devices()) {
        if (one.kind != device_kind::loopback) continue;
        found = true;
        CHECK(one.index > 0);
    }
    CHECK(found);
}
