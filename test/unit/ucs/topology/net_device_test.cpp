#include "ucs/topology/net_device.hpp"

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"

using ucs::topology::net_device;

namespace {

// A machine with one card of two ports, a loopback and a bridge.
struct fake_machine {
    fake_machine() {
        const std::string card = "sys/devices/pci0000:16/0000:16:02.0/0000:17:00.0";
        root.write(card + "/numa_node", "1\n");
        root.write(card + "/net/eth0/operstate", "up\n");
        root.write(card + "/net/eth0/speed", "100000\n");
        root.write(card + "/net/eth0/mtu", "9000\n");
        root.write(card + "/net/eth0/type", "1\n");
        root.link(card + "/net/eth0/device", "../../../0000:17:00.0");
        root.write("sys/bus/pci/drivers/mlx5_core/module", "");
        root.link(card + "/driver", root / "sys/bus/pci/drivers/mlx5_core");
        root.link("sys/class/net/eth0", root / (card + "/net/eth0"));
        root.write("sys/devices/virtual/net/lo/operstate", "unknown\n");
        root.write("sys/devices/virtual/net/lo/type", "772\n");
        root.write("sys/devices/virtual/net/lo/mtu", "65536\n");
        root.link("sys/class/net/lo", root / "sys/devices/virtual/net/lo");
        root.write("sys/devices/virtual/net/br0/operstate", "down\n");
        root.write("sys/devices/virtual/net/br0/speed", "-1\n");
        root.link("sys/class/net/br0", root / "sys/devices/virtual/net/br0");
    }
    test::temp_dir root;
};

}  // namespace

TEST_CASE("a network card") {
    const fake_machine fake;
    const auto eth0 = net_device::read("eth0", fake.root.path());
    REQUIRE(eth0);
    CHECK(eth0->state == "up");
    CHECK(eth0->speed_mbps == 100000);
    CHECK(eth0->mtu == 9000);
    CHECK(eth0->driver == "mlx5_core");
    CHECK(eth0->location.numa_node == 1);
    REQUIRE(eth0->location.pci);
    CHECK(eth0->location.pci->text() == "0000:17:00.0");
    CHECK_FALSE(eth0->is_virtual);
    CHECK_FALSE(eth0->is_loopback);
}

TEST_CASE("interfaces without hardware") {
    const fake_machine fake;
    const auto all = ucs::topology::net_devices(fake.root.path());
    REQUIRE(all.size() == 3);
    CHECK(all[0].name == "br0");
    CHECK(all[0].is_virtual);
    CHECK(all[0].speed_mbps == 0);
    CHECK(all[0].state == "down");
    CHECK_FALSE(all[0].location.pci.has_value());
    CHECK(all[2].is_loopback);
    CHECK(all[2].is_virtual);
}

TEST_CASE("invalid names of interfaces") {
    const fake_machine fake;
    for (const char* name : {"", "eth9", "..", "../../class/net/eth0", "."}) {
        INFO(name);
        CHECK_FALSE(net_device::read(name, fake.root.path()).has_value());
    }
}

TEST_CASE("an interface of virtio is on the NUMA node of the card below it") {
    const test::temp_dir root;
    const std::string card = "sys/devices/pci0000:40/0000:40:00.0/0000:41:00.0";
    root.write(card + "/numa_node", "1\n");
    root.write(card + "/virtio2/net/net1/operstate", "up\n");
    root.link(card + "/virtio2/net/net1/device", "../../../virtio2");
    root.link("sys/class/net/net1", root / (card + "/virtio2/net/net1"));
    const auto net1 = net_device::read("net1", root.path());
    REQUIRE(net1);
    CHECK(net1->location.numa_node == 1);
    CHECK(net1->location.pci->text() == "0000:41:00.0");
}
