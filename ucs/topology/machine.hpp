// NUMA nodes and processors of this machine.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace ucs::topology {

// The NUMA nodes of a machine. Immutable value, any thread.
class machine {
public:
    struct node {
        int id;
        std::vector<unsigned> cpus;
        std::vector<unsigned> distances;  // to nodes() in their order; 10 is the node itself
    };

    explicit machine(std::vector<node> nodes) noexcept : nodes_(std::move(nodes)) {}

    // Returns this machine, as libnuma sees it at the first call. If the kernel has no NUMA, or
    // refuses its calls to this process, the machine is one node with the CPUs that this thread may
    // use. Throws std::bad_alloc.
    [[nodiscard]] static const machine& host();

    [[nodiscard]] const std::vector<node>& nodes() const noexcept { return nodes_; }

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

// Returns the only node on whose CPUs this thread may run; -1: any of several, or the machine has
// only one.
[[nodiscard]] int home_node() noexcept;

// Asks the kernel to take the whole pages in this memory from a node, and moves those that only
// this process has mapped. The request belongs to a shared file, so it also holds for pages that
// other processes touch first. Does nothing if `node` is -1 or the machine has only one; the kernel
// may refuse, and may use other nodes if this is full.
void prefer_node(void* memory, std::size_t size, int node) noexcept;

}  // namespace ucs::topology
