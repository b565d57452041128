#include "ucp/wireup/detour.hpp"

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"
#include "ucs/topology/machine.hpp"

using ucp::wireup::detour_seconds;

TEST_CASE("a device on another NUMA node is as much farther as the firmware says") {
    const test::temp_dir root;
    root.write("sys/devices/system/cpu/online", "0-3\n");
    root.write("sys/devices/system/node/online", "0-1\n");
    root.write("sys/devices/system/node/node0/cpulist", "0-1\n");
    root.write("sys/devices/system/node/node0/distance", "10 21\n");
    root.write("sys/devices/system/node/node1/cpulist", "2-3\n");
    root.write("sys/devices/system/node/node1/distance", "21 10\n");
    const auto here = ucs::topology::machine::read(root.path());
    CHECK(detour_seconds(here, 0, 0) == 0);
    CHECK(detour_seconds(here, 0, 1) == Approx(99e-9));
    CHECK(detour_seconds(here, 1, 1) == 0);
    CHECK(detour_seconds(here, -1, 1) == 0);
    CHECK(detour_seconds(here, 0, -1) == 0);
    CHECK(detour_seconds(here, 0, 7) == 0);  // there is no such node
}

TEST_CASE("devices of no known node are near") {
    const int nodes[] = {-1, -1};
    CHECK(ucp::wireup::detours_to(nodes) == std::vector<double>{0, 0});
}
