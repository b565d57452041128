#include "ucs/topology/machine.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "ucs/memory/mapped.hpp"

using ucs::topology::machine;

TEST_CASE("nodes, processors and distances of a machine with two sockets") {
    const machine found({{0, {0, 1, 2, 3}, {10, 21}}, {2, {4, 5, 6, 7}, {21, 10}}});
    REQUIRE(found.nodes().size() == 2);
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

TEST_CASE("this machine has a node with the processors that this thread may use") {
    const machine& host = machine::host();
    REQUIRE_FALSE(host.nodes().empty());
    const std::vector<unsigned> allowed = ucs::topology::allowed_cpus();
    cpu_set_t set;
    REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
    CHECK(allowed.size() == static_cast<std::size_t>(CPU_COUNT(&set)));
    for (const unsigned cpu : allowed) {
        CHECK(CPU_ISSET(cpu, &set));
        CHECK(host.node_of_cpu(cpu) >= 0);
    }
    const int first = host.nodes().front().id;
    CHECK(host.distance(first, first) == 10);
    const bool is_alone = host.nodes().size() == 1;
    CHECK(ucs::topology::home_node() == (is_alone ? -1 : host.node_of_cpus(allowed)));
}

TEST_CASE("memory may prefer any node, also one that does not exist") {
    auto memory = ucs::memory::mapped::anonymous(1 << 20);
    REQUIRE(memory);
    for (const int node : {machine::host().nodes().back().id, 77, 100'000, -1}) {
        ucs::topology::prefer_node(memory->data() + 100, memory->size() - 100, node);
        memory->data()[memory->size() / 2] = std::byte{1};
        ucs::topology::prefer_node(memory->data() + 100, 200, node);  // no whole page
    }
    CHECK(memory->data()[memory->size() / 2] == std::byte{1});
}

TEST_CASE("memory that is bound to one node comes from there") {
    const int before = ucs::topology::memory_node();
    const machine& host = machine::host();
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
