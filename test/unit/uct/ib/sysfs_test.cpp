#include "uct/ib/base/device/sysfs.hpp"

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"
#include "uct/ib/base/device/device.hpp"

using namespace uct::ib;

namespace {

// A kernel's files with one working card.
struct kernel {
    kernel() {
        add("mlx5_0", "1: CA", "uverbs0");
        add_port("mlx5_0", "1", "4: ACTIVE", "InfiniBand");
        files.write(folder("mlx5_0") + "/device/numa_node", "1\n");
    }
    static std::string folder(const std::string& device) {
        return "sys/class/infiniband/" + device;
    }
    void add(const std::string& device, const std::string& type, const std::string& verbs) const {
        files.write(folder(device) + "/node_type", type + "\n");
        files.write("sys/class/infiniband_verbs/" + verbs + "/ibdev", device + "\n");
        files.write("sys/class/infiniband_verbs/abi_version", "6\n");
        files.write("dev/infiniband/" + verbs, "");
    }
    void add_port(const std::string& device, const std::string& number, const std::string& state,
                  const std::string& link) const {
        const std::string port = folder(device) + "/ports/" + number;
        files.write(port + "/state", state + "\n");
        files.write(port + "/link_layer", link + "\n");
        add_gid(device, number, "0", "0000:0000:0000:0000:0000:0000:0000:0000");
    }
    void add_gid(const std::string& device, const std::string& port, const std::string& index,
                 const std::string& gid) const {
        files.write(folder(device) + "/ports/" + port + "/gids/" + index, gid + "\n");
    }
    [[nodiscard]] uct::listing list() const { return list_ports("rc_verbs", files.path()); }

    test::temp_dir files;
};

std::string only_reason(const kernel& files_of) {
    const uct::listing found = files_of.list();
    REQUIRE(found.usable.empty());
    REQUIRE(found.unusable.size() == 1);
    return found.unusable.front().device + ": " + found.unusable.front().reason;
}

}  // namespace

TEST_CASE("ports are listed from files, and no device is opened") {
    const kernel host;
    host.add_port("mlx5_0", "2", "1: DOWN", "InfiniBand");
    host.add_port("mlx5_0", "10", "4: ACTIVE", "InfiniBand");
    const uct::listing found = host.list();
    REQUIRE(found.usable.size() == 2);
    CHECK(found.usable[0].device == "mlx5_0:1");
    CHECK(found.usable[0].transport == "rc_verbs");
    CHECK(found.usable[0].location.numa_node == 1);
    CHECK(found.usable[1].device == "mlx5_0:10");
    REQUIRE(found.unusable.size() == 1);
    CHECK(found.unusable[0].device == "mlx5_0:2");
    CHECK(found.unusable[0].reason == "the port is DOWN");
}

TEST_CASE("a host without devices is reported") {
    const test::temp_dir nothing;
    const uct::listing found = list_ports("rc_verbs", nothing.path());
    CHECK(found.usable.empty());
    REQUIRE(found.unusable.size() == 1);
    CHECK(found.unusable[0].reason == "there is no RDMA device");
}

TEST_CASE("devices of other kinds are skipped with a reason") {
    kernel host;
    host.files.write(kernel::folder("mlx5_0") + "/node_type", "4: RNIC\n");
    CHECK(only_reason(host) == "mlx5_0: iWARP devices are not supported");
    host.files.write(kernel::folder("mlx5_0") + "/node_type", "7: unspecified\n");
    CHECK(only_reason(host) ==
          "mlx5_0: it is no InfiniBand or RoCE adapter, but of type unspecified");
}

TEST_CASE("a device without a device file for programs is skipped") {
    kernel host;
    REQUIRE(std::remove((host.files / "dev/infiniband/uverbs0").c_str()) == 0);
    CHECK(only_reason(host) ==
          "mlx5_0: /dev/infiniband/uverbs0 cannot be opened: No such file or directory");
    host.files.write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_1\n");
    CHECK(only_reason(host).find("offers it to no program") != std::string::npos);
}

TEST_CASE("a port on Ethernet needs a GID") {
    kernel host;
    host.add_port("mlx5_0", "1", "4: ACTIVE", "Ethernet");
    CHECK(only_reason(host) ==
          "mlx5_0:1: the port has no GID: give its network interface an address");
    host.add_gid("mlx5_0", "1", "1", "0000:0000:0000:0000:0000:ffff:0a09:0001");
    CHECK(host.list().usable.size() == 1);
}

TEST_CASE("software devices are recognized, and have the location of their network interface") {
    kernel host;
    CHECK_FALSE(device_entry::read("mlx5_0", host.files.path()).is_software);
    host.add("rxe0", "1: CA", "uverbs1");
    host.files.write(kernel::folder("rxe0") + "/parent", "eth0\n");
    host.files.write("sys/devices/pci0000:00/0000:00:01.0/numa_node", "3\n");
    host.files.write("sys/devices/pci0000:00/0000:00:01.0/net/eth0/operstate", "up\n");
    host.files.link("sys/devices/pci0000:00/0000:00:01.0/net/eth0/device",
                    host.files / "sys/devices/pci0000:00/0000:00:01.0");
    host.files.link("sys/class/net/eth0",
                    host.files / "sys/devices/pci0000:00/0000:00:01.0/net/eth0");
    const device_entry found = device_entry::read("rxe0", host.files.path());
    CHECK(found.is_software);
    CHECK(found.location.numa_node == 3);
    CHECK(found.why_unusable == "it has no port");
    // As with siw: no parent, but no hardware either.
    host.files.write("sys/devices/virtual/infiniband/siw0/node_type", "1: CA\n");
    host.files.link("sys/class/infiniband/siw0",
                    host.files / "sys/devices/virtual/infiniband/siw0");
    CHECK(device_entry::read("siw0", host.files.path()).is_software);
}

TEST_CASE("counters of a port are read when they are shown") {
    const kernel host;
    const std::string folder = kernel::folder("mlx5_0") + "/ports/1/hw_counters";
    host.files.write(folder + "/out_of_sequence", "3\n");
    host.files.write(folder + "/local_ack_timeout_err", "0\n");
    host.files.write(folder + "/lifespan", "10\n");
    ucs::vfs::directory shown;
    describe_counters("mlx5_0", 1, shown, host.files.path());
    REQUIRE(shown.entries().size() == 2);
    CHECK(shown.entries()[0].name == "local_ack_timeout_err");
    CHECK(shown.entries()[1].name == "out_of_sequence");
    CHECK(shown.entries()[1].read() == "3");
    host.files.write(folder + "/out_of_sequence", "4\n");
    CHECK(shown.entries()[1].read() == "4");
    ucs::vfs::directory nothing;
    describe_counters("mlx5_0", 2, nothing, host.files.path());
    CHECK(nothing.entries().empty());
}
