#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"
#include "ucs/topology/pci_tree.hpp"

namespace topology = ucs::topology;
using namespace topology;

namespace {

pci_address address(const char* text) {
    const auto parsed = pci_address::parse(text);
    REQUIRE(parsed);
    return *parsed;
}

// Two sockets; the first has two host bridges, one of them with a switch.
struct fake_machine {
    fake_machine() {
        add("pci0000:16/0000:16:02.0/0000:17:00.0/0000:18:00.0/0000:19:00.0", "0");
        add("pci0000:16/0000:16:02.0/0000:17:00.0/0000:18:01.0/0000:1a:00.0", "0");
        add("pci0000:16/0000:16:02.0/0000:17:00.0/0000:18:01.0/0000:1a:00.1", "0");
        add("pci0000:16/0000:16:04.0/0000:1b:00.0", "0");
        add("pci0000:30/0000:30:02.0/0000:31:00.0", "0");
        add("pci0000:80/0000:80:02.0/0000:81:00.0", "1");
        add("pci0000:90/0000:90:02.0/0000:91:00.0", "-1");
    }
    void add(const std::string& path, const char* node) const {
        root.write("sys/devices/" + path + "/numa_node", node);
        root.link("sys/bus/pci/devices/" + path.substr(path.rfind('/') + 1),
                  root / ("sys/devices/" + path));
    }
    test::temp_dir root;
};

}  // namespace

TEST_CASE("PCI addresses are read strictly and printed in full") {
    CHECK(address("0000:17:00.1").text() == "0000:17:00.1");
    CHECK(address("17:1f.7").text() == "0000:17:1f.7");
    CHECK(address("10000:e1:00.0").domain == 0x10000);
    for (const char* text :
         {"", "17", "17:00", "17:20.0", "17:00.8", "17:00.", ":00.0", "1:2:3:4.0", "0000:17:00.0 ",
          "zz:00.0", "0000:117:00.0", "-1:00.0", "17:+1.0"}) {
        INFO(text);
        CHECK_FALSE(pci_address::parse(text).has_value());
    }
}

TEST_CASE("distances of PCI devices") {
    const fake_machine fake;
    const topology::pci_tree tree(fake.root.path());
    const pci_address gpu = address("19:00.0");
    CHECK(tree.between(address("1a:00.0"), address("1a:00.1")) == path_class::same_device);
    CHECK(tree.between(gpu, address("1a:00.0")) == path_class::same_bridge);
    CHECK(tree.between(gpu, address("1b:00.0")) == path_class::same_root);
    CHECK(tree.between(gpu, address("31:00.0")) == path_class::same_node);
    CHECK(tree.between(gpu, address("81:00.0")) == path_class::cross_node);
    CHECK(tree.between(gpu, address("91:00.0")) == path_class::unknown);
    CHECK(tree.between(gpu, address("55:00.0")) == path_class::unknown);
    CHECK(tree.between(address("81:00.0"), gpu) == tree.between(gpu, address("81:00.0")));
    CHECK(tree.numa_node(address("81:00.0")) == 1);
    CHECK(tree.numa_node(address("91:00.0")) == -1);
}

TEST_CASE("distances of devices and processors") {
    const fake_machine fake;
    const topology::pci_tree tree(fake.root.path());
    const topology::machine machine({{0, {0, 1}, {}}, {1, {2, 3}, {}}});
    CHECK(tree.to_cpu(address("19:00.0"), 1, machine) == path_class::same_node);
    CHECK(tree.to_cpu(address("19:00.0"), 2, machine) == path_class::cross_node);
    CHECK(tree.to_cpu(address("91:00.0"), 2, machine) == path_class::unknown);
    CHECK(tree.to_cpu(address("19:00.0"), 9, machine) == path_class::unknown);
    CHECK(std::string(topology::path_class_name(path_class::cross_node)) == "other NUMA node");
}

TEST_CASE("the bandwidth of a slot follows from its speed and width") {
    const fake_machine fake;
    const std::string folder = "sys/devices/pci0000:16/0000:16:04.0/0000:1b:00.0";
    fake.root.write(folder + "/current_link_speed", "16.0 GT/s PCIe\n");
    fake.root.write(folder + "/current_link_width", "16\n");
    const topology::pci_tree tree(fake.root.path());
    CHECK(tree.bandwidth(address("1b:00.0")) == Approx(31.5e9).epsilon(0.01));
    CHECK(tree.bandwidth(address("19:00.0")) == 0);
    fake.root.write(folder + "/current_link_speed", "Unknown\n");
    CHECK(tree.bandwidth(address("1b:00.0")) == 0);
}
