#include "ucs/topology/device_location.hpp"

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"

using ucs::topology::device_location;

namespace {

device_location location_of(const std::string& folder) {
    return device_location::read("/sys/devices/" + folder);
}

}  // namespace

TEST_CASE("switches are counted below the port of the root") {
    CHECK(location_of("pci0000:16/0000:16:00.5").switches == 0);  // of the root complex
    CHECK(location_of("pci0000:16/0000:16:02.0/0000:17:00.0").switches == 0);  // in a slot
    const std::string upwards = "pci0000:16/0000:16:02.0/0000:17:00.0";
    CHECK(location_of(upwards + "/0000:18:00.0/0000:19:00.0").switches == 1);
    CHECK(location_of(upwards + "/0000:18:00.0/0000:19:00.0/virtio2/net/net1").switches == 1);
    CHECK(location_of(upwards + "/0000:18:00.0/0000:19:00.0/0000:1a:00.0/0000:1b:00.0").switches ==
          2);
    CHECK(location_of("pci0000:00/0000:00:1e.0/0000:01:00.0/0000:02:01.0").switches ==
          1);  // old PCI
    CHECK(location_of("virtual/net/lo").switches == 0);
    CHECK(device_location::read("").switches == 0);
}

TEST_CASE("node and address come from the nearest folder that has them") {
    const test::temp_dir root;
    const std::string card = "pci0000:40/0000:40:00.0/0000:41:00.0";
    root.write(card + "/numa_node", "1\n");
    root.write("pci0000:40/0000:40:00.0/numa_node", "0\n");
    root.write(card + "/virtio2/numa_node", "-1\n");
    const device_location found = device_location::read(root / (card + "/virtio2"));
    CHECK(found.numa_node == 1);
    REQUIRE(found.pci);
    CHECK(found.pci->text() == "0000:41:00.0");
}

TEST_CASE("text of a location") {
    CHECK(device_location{}.text() == "unknown");
    CHECK(location_of("pci0000:16/0000:16:02.0/0000:17:00.0").text() == "PCI 0000:17:00.0");
    device_location far =
        location_of("pci0000:16/0000:16:02.0/0000:17:00.0/0000:18:00.0/0000:19:00.0");
    CHECK(far.text() == "PCI 0000:19:00.0 behind 1 switch");
    far.switches = 2;
    far.numa_node = 1;
    CHECK(far.text() == "NUMA node 1, PCI 0000:19:00.0 behind 2 switches");
    far.pci.reset();
    far.switches = 0;
    CHECK(far.text() == "NUMA node 1");
}
