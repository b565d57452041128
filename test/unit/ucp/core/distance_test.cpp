#include "ucp/core/distance.hpp"

#include <catch2/catch.hpp>

#include "ucs/topology/device_location.hpp"
#include "ucs/topology/machine.hpp"

using ucp::distance_seconds;
using ucs::topology::device_location;

TEST_CASE("the distance of a device on another NUMA node follows the firmware's table") {
    const ucs::topology::machine host({{0, {0, 1}, {10, 21}}, {1, {2, 3}, {21, 10}}});
    const auto seconds = [&](int from, int to) {
        return distance_seconds(host, from, device_location{.numa_node = to});
    };
    CHECK(seconds(0, 0) == 0);
    CHECK(seconds(0, 1) == Approx(99e-9));
    CHECK(seconds(1, 1) == 0);
    CHECK(seconds(-1, 1) == 0);
    CHECK(seconds(0, -1) == 0);
    CHECK(seconds(0, 7) == 0);  // there is no such node
    CHECK(distance_seconds(host, 0, device_location{.numa_node = 1, .switches = 2}) ==
          Approx(319e-9));
}

TEST_CASE("each switch adds to a device's distance, even if its node is unknown") {
    const device_location devices[] = {{}, {.switches = 1}, {.switches = 3}};
    const std::vector<double> seconds = ucp::distances_to(devices);
    REQUIRE(seconds.size() == 3);
    CHECK(seconds[0] == 0);
    CHECK(seconds[1] == Approx(110e-9));
    CHECK(seconds[2] == Approx(330e-9));
}

TEST_CASE("connections beyond those that the device keeps cost a fetch") {
    CHECK(ucp::connection_fetch_seconds(256, 256) == 0);
    CHECK(ucp::connection_fetch_seconds(256, 257) == Approx(1e-6));
}

TEST_CASE("devices of unknown location have no distance") {
    const device_location devices[] = {{}, {}};
    CHECK(ucp::distances_to(devices) == std::vector<double>{0, 0});
}
