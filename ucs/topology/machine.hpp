// NUMA nodes and processors of this machine.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace ucs::topology {

// A snapshot of ROOT/sys/devices/system. A kernel without NUMA gives one node with all CPUs.
// Immutable value, any thread. (The kernel's files provide the same facts as libnuma, and tests can
// replace them by a folder.)
class machine {
public:
    struct node {
        int id;
        std::vector<unsigned> cpus;
        std::vector<unsigned> distances;  // to nodes() in their order; 10 is the node itself
    };

    [[nodiscard]] static machine read(const std::string& root = "/");

    [[nodiscard]] const std::vector<node>& nodes() const noexcept { return nodes_; }
    [[nodiscard]] const std::vector<unsigned>& online_cpus() const noexcept { return online_; }

    // -1: unknown CPU.
    [[nodiscard]] int node_of_cpu(unsigned cpu) const noexcept;

    // Returns the only node of all these CPUs, ignoring unknown ones; -1 if there are several
    // nodes, or none.
    [[nodiscard]] int node_of_cpus(std::span<const unsigned> cpus) const noexcept;

    // The firmware's relative distance of two nodes by id: 10 local, 0 unknown.
    [[nodiscard]] unsigned distance(int from, int to) const noexcept;

private:
    [[nodiscard]] const node* find(int id) const noexcept;

    std::vector<node> nodes_;
    std::vector<unsigned> online_;
};

// Returns the CPUs that this thread may run on, for any number of CPUs; empty if the kernel does
// not report them.
[[nodiscard]] std::vector<unsigned> allowed_cpus();

// Returns the NUMA node of the CPU on which this thread runs; -1: unknown. Only a hint, because the
// thread may move.
[[nodiscard]] int current_node() noexcept;

// Returns the only node from which new memory of this thread may come, according to its memory
// policy (numactl --membind) or its cpuset; -1: any of several, or unknown.
[[nodiscard]] int memory_node() noexcept;

}  // namespace ucs::topology
