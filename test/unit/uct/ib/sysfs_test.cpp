#include "uct/ib/base/sysfs.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"
#include "uct/ib/base/device.hpp"

using namespace uct::ib;

namespace {

// A kernel's files with one card, of which everything works.
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

std::string only_reason(const kernel& of) {
    const uct::listing found = of.list();
    REQUIRE(found.usable.empty());
    REQUIRE(found.unusable.size() == 1);
    return found.unusable.front().device + ": " + found.unusable.front().reason;
}

}  // namespace

TEST_CASE("ports are listed from files, and nothing is opened") {
    const kernel here;
    here.add_port("mlx5_0", "2", "1: DOWN", "InfiniBand");
    here.add_port("mlx5_0", "10", "4: ACTIVE", "InfiniBand");
    const uct::listing found = here.list();
    REQUIRE(found.usable.size() == 2);
    CHECK(found.usable[0].device == "mlx5_0:1");
    CHECK(found.usable[0].transport == "rc_verbs");
    CHECK(found.usable[0].place.numa_node == 1);
    CHECK(found.usable[1].device == "mlx5_0:10");
    REQUIRE(found.unusable.size() == 1);
    CHECK(found.unusable[0].device == "mlx5_0:2");
    CHECK(found.unusable[0].reason == "the port is DOWN");
}

TEST_CASE("a host without devices says so") {
    const test::temp_dir nothing;
    const uct::listing found = list_ports("rc_verbs", nothing.path());
    CHECK(found.usable.empty());
    REQUIRE(found.unusable.size() == 1);
    CHECK(found.unusable[0].reason == "there is no RDMA device");
}

TEST_CASE("devices of other kinds are left out with their reason") {
    kernel here;
    here.files.write(kernel::folder("mlx5_0") + "/node_type", "4: RNIC\n");
    CHECK(only_reason(here) == "mlx5_0: iWARP devices are not supported");
    here.files.write(kernel::folder("mlx5_0") + "/node_type", "7: unspecified\n");
    CHECK(only_reason(here) ==
          "mlx5_0: it is no InfiniBand or RoCE adapter, but of type unspecified");
}

TEST_CASE("a device whose file is not there for programs is left out") {
    kernel here;
    REQUIRE(std::remove((here.files / "dev/infiniband/uverbs0").c_str()) == 0);
    CHECK(only_reason(here) ==
          "mlx5_0: /dev/infiniband/uverbs0 cannot be opened: No such file or directory");
    here.files.write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_1\n");
    CHECK(only_reason(here).find("offers it to no program") != std::string::npos);
}

TEST_CASE("a port on Ethernet needs a GID") {
    kernel here;
    here.add_port("mlx5_0", "1", "4: ACTIVE", "Ethernet");
    CHECK(only_reason(here) ==
          "mlx5_0:1: the port has no GID: give its network interface an address");
    here.add_gid("mlx5_0", "1", "1", "0000:0000:0000:0000:0000:ffff:0a09:0001");
    CHECK(here.list().usable.size() == 1);
}

TEST_CASE("devices in software are known, and lie where their network interface does") {
    kernel here;
    CHECK_FALSE(device_entry::read("mlx5_0", here.files.path()).is_software);
    here.add("rxe0", "1: CA", "uverbs1");
    here.files.write(kernel::folder("rxe0") + "/parent", "eth0\n");
    here.files.write("sys/devices/pci0000:00/0000:00:01.0/numa_node", "3\n");
    here.files.write("sys/devices/pci0000:00/0000:00:01.0/net/eth0/operstate", "up\n");
    here.files.link("sys/devices/pci0000:00/0000:00:01.0/net/eth0/device",
                    here.files / "sys/devices/pci0000:00/0000:00:01.0");
    here.files.link("sys/class/net/eth0",
                    here.files / "sys/devices/pci0000:00/0000:00:01.0/net/eth0");
    const device_entry found = device_entry::read("rxe0", here.files.path());
    CHECK(found.is_software);
    CHECK(found.place.numa_node == 3);
    CHECK(found.why_unusable == "it has no port");
    // As siw has it: no parent, but no hardware either.
    here.files.write("sys/devices/virtual/infiniband/siw0/node_type", "1: CA\n");
    here.files.link("sys/class/infiniband/siw0",
                    here.files / "sys/devices/virtual/infiniband/siw0");
    CHECK(device_entry::read("siw0", here.files.path()).is_software);
}

TEST_CASE("counters of a port are shown as they are when somebody looks") {
    const kernel here;
    const std::string folder = kernel::folder("mlx5_0") + "/ports/1/hw_counters";
    here.files.write(folder + "/out_of_sequence", "3\n");
    here.files.write(folder + "/local_ack_timeout_err", "0\n");
    here.files.write(folder + "/lifespan", "10\n");
    ucs::vfs::directory shown;
    describe_counters("mlx5_0", 1, shown, here.files.path());
    REQUIRE(shown.entries().size() == 2);
    CHECK(shown.entries()[0].name == "local_ack_timeout_err");
    CHECK(shown.entries()[1].name == "out_of_sequence");
    CHECK(shown.entries()[1].read() == "3");
    here.files.write(folder + "/out_of_sequence", "4\n");
    CHECK(shown.entries()[1].read() == "4");
    ucs::vfs::directory nothing;
    describe_counters("mlx5_0", 2, nothing, here.files.path());
    CHECK(nothing.entries().empty());
}
