#include "ucs/topology/machine.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"

using ucs::topology::machine;

TEST_CASE("nodes, processors and distances of a machine with two sockets") {
    const test::temp_dir root;
    root.write("sys/devices/system/cpu/online", "0-7\n");
    root.write("sys/devices/system/node/online", "0,2\n");
    root.write("sys/devices/system/node/node0/cpulist", "0-3\n");
    root.write("sys/devices/system/node/node0/distance", "10 21\n");
    root.write("sys/devices/system/node/node2/cpulist", "4-7\n");
    root.write("sys/devices/system/node/node2/distance", "21 10\n");
    const machine found = machine::read(root.path());
    REQUIRE(found.nodes().size() == 2);
    CHECK(found.online_cpus().size() == 8);
    CHECK(found.node_of_cpu(5) == 2);
    CHECK(found.node_of_cpu(99) == -1);
    CHECK(found.distance(0, 2) == 21);
    CHECK(found.distance(2, 2) == 10);
    CHECK(found.distance(0, 1) == 0);
    std::vector<unsigned> cpus;
    CHECK(found.node_of_cpus(cpus) == -1);
    cpus = {4, 6, 99};  // the machine has no processor 99
    CHECK(found.node_of_cpus(cpus) == 2);
    cpus.push_back(3);
    CHECK(found.node_of_cpus(cpus) == -1);
}

TEST_CASE("a kernel without NUMA is one node") {
    const test::temp_dir root;
    root.write("sys/devices/system/cpu/online", "0-1\n");
    const machine found = machine::read(root.path());
    REQUIRE(found.nodes().size() == 1);
    CHECK(found.node_of_cpu(1) == 0);
    const std::vector<unsigned> allowed = ucs::topology::allowed_cpus();
    cpu_set_t set;
    REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
    CHECK(allowed.size() == static_cast<std::size_t>(CPU_COUNT(&set)));
    for (const unsigned cpu : allowed)
        CHECK(CPU_ISSET(cpu, &set));
    CHECK(found.distance(0, 0) == 10);
}

TEST_CASE("damaged files give incomplete values and no failure") {
    const test::temp_dir root;
    root.write("sys/devices/system/cpu/online", "zero\n");
    root.write("sys/devices/system/node/online", "0-1\n");
    root.write("sys/devices/system/node/node0/distance", "10 far\n");
    const machine found = machine::read(root.path());
    CHECK(found.nodes().size() == 2);
    CHECK(found.distance(0, 1) == 0);
    CHECK(found.node_of_cpu(0) == -1);
}

TEST_CASE("memory that is bound to one node comes from there") {
    const int before = ucs::topology::memory_node();
    const machine host = machine::read();
    CHECK((before == -1 || host.nodes().size() > 1 || before == host.nodes().front().id));
    const unsigned long first = 1UL << host.nodes().front().id;
    if (::syscall(SYS_set_mempolicy, MPOL_BIND, &first, 64) != 0) {
        WARN("left out: this process may not bind its memory");
        return;
    }
    CHECK(ucs::topology::memory_node() == host.nodes().front().id);
    REQUIRE(::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0) == 0);
    CHECK(ucs::topology::memory_node() == before);
}

TEST_CASE("this machine has a node with processors") {
    const machine host = machine::read();
    REQUIRE_FALSE(host.nodes().empty());
    CHECK_FALSE(host.online_cpus().empty());
}
