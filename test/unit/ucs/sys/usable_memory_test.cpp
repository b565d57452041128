// Tests of memory limits by cgroups, and of the part of memory that peers may fill.
#include "ucs/sys/usable_memory.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "test/support/temp_dir.hpp"

using namespace ucs::sys;

namespace {

constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t mib = std::uint64_t{1} << 20;

}  // namespace

TEST_CASE("usable memory: the smallest limit of a cgroup and those above it counts",
          "[ucs][memory]") {
    const test::temp_dir mount;  // stands for /sys/fs/cgroup
    mount.write("job/step/memory.max", "max");
    mount.write("job/memory.max", "1073741824");
    mount.write("memory.max", "4294967296");
    CHECK(cgroup_memory_limit("0::/job/step\n", mount.path()) == 1024 * mib);
    CHECK(cgroup_memory_limit("0::/\n", mount.path()) == 4096 * mib);
    CHECK(cgroup_memory_limit("0::/other\n", mount.path()) == 4096 * mib);
}

TEST_CASE("usable memory: groups of version 1 count by their memory controller", "[ucs][memory]") {
    const test::temp_dir mount;  // stands for /sys/fs/cgroup
    mount.write("memory/job/memory.limit_in_bytes", "536870912");
    mount.write("memory/memory.limit_in_bytes", "9223372036854771712");
    const std::string membership =
        "5:cpu,cpuacct:/\n4:hugetlb,memory:/job\n1:name=systemd:/x\n0::/\n";
    CHECK(cgroup_memory_limit(membership, mount.path()) == 512 * mib);
}

TEST_CASE("usable memory: invalid membership text sets no limit", "[ucs][memory]") {
    const test::temp_dir mount;  // stands for /sys/fs/cgroup
    mount.write("memory.max", "nonsense");
    for (const char* text : {"", "\n", "0", "0:", "::", "0::/", "0::/../..", "4:memory"})
        CHECK(cgroup_memory_limit(text, mount.path()) == no_limit);
}

TEST_CASE("usable memory: peers may fill an eighth, and up to a half if memory is small",
          "[ucs][memory]") {
    CHECK(peer_memory_limit(64 * 1024 * mib) == 8 * 1024 * mib);
    CHECK(peer_memory_limit(1024 * mib) == 256 * mib);
    CHECK(peer_memory_limit(128 * mib) == 64 * mib);
    CHECK(peer_memory_limit() <= ucs::sys::usable_memory() / 2);
}
