// NUMA nodes and processors of this machine.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace ucs::topology {

// A snapshot of ROOT/sys/devices/system. A kernel without NUMA gives one node with all CPUs.
// Immutable value, any thread. (The kernel's files say all that libnuma would, and they can be
// replaced by a folder in tests.)
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

    // The only node of all these CPUs, of which the unknown ones do not count; -1: there are
    // several, or none.
    [[nodiscard]] int node_of_cpus(std::span<const unsigned> cpus) const noexcept;

    // The firmware's relative distance of two nodes by id: 10 local, 0 unknown.
    [[nodiscard]] unsigned distance(int from, int to) const noexcept;

private:
    [[nodiscard]] const node* find(int id) const noexcept;

    std::vector<node> nodes_;
    std::vector<unsigned> online_;
};

// Those that this thread may run on, however many the kernel knows; empty: it does not say.
[[nodiscard]] std::vector<unsigned> allowed_cpus();

// NUMA node of the CPU that this thread runs on; -1: unknown. A hint: the thread may move.
[[nodiscard]] int current_node() noexcept;

// The only node that new memory of this thread may come from, by its memory policy (numactl
// --membind) or by the nodes that its cpuset allows; -1: any of several, or unknown.
[[nodiscard]] int memory_node() noexcept;

}  // namespace ucs::topology
