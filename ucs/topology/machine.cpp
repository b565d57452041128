#include "ucs/topology/machine.hpp"

#include <numa.h>
#include <numaif.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstdint>
#include <new>

namespace ucs::topology {
namespace {

constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;
constexpr std::size_t most_nodes = 1024;  // the most that the kernel can be built for
using node_set = std::array<unsigned long, most_nodes / word_bits>;

// A set of CPUs in the form of libnuma, whose own function ends the process if there is no memory.
class cpu_set {
public:
    cpu_set() : words_(static_cast<std::size_t>(::numa_num_possible_cpus()) / word_bits + 1) {}
    cpu_set(const cpu_set&) = delete;
    cpu_set& operator=(const cpu_set&) = delete;
    [[nodiscard]] bitmask* mask() noexcept { return &mask_; }
    [[nodiscard]] std::vector<unsigned> numbers() const {
        std::vector<unsigned> found;
        for (unsigned i = 0; i < mask_.size; ++i)
            if (::numa_bitmask_isbitset(&mask_, i) != 0) found.push_back(i);
        return found;
    }

private:
    std::vector<unsigned long> words_;
    bitmask mask_{words_.size() * word_bits, words_.data()};
};

bool has_numa() noexcept {
    static const bool has = ::numa_available() >= 0;
    return has;
}

bool has_several_nodes() noexcept {
    return has_numa() && ::numa_num_configured_nodes() > 1;
}

machine read() {
    std::vector<machine::node> nodes;
    for (int id = 0; has_numa() && id <= ::numa_max_node(); ++id) {
        if (::numa_bitmask_isbitset(::numa_nodes_ptr, static_cast<unsigned>(id)) == 0) continue;
        cpu_set cpus;
        const bool is_known = ::numa_node_to_cpus(id, cpus.mask()) == 0;
        nodes.push_back({id, is_known ? cpus.numbers() : std::vector<unsigned>{}, {}});
    }
    for (machine::node& from : nodes)
        for (const machine::node& to : nodes)
            from.distances.push_back(static_cast<unsigned>(::numa_distance(from.id, to.id)));
    if (nodes.empty()) nodes.push_back({0, allowed_cpus(), {10}});
    return machine(std::move(nodes));
}

}  // namespace

const machine& machine::host() {
    static const machine found = read();
    return found;
}

const machine::node* machine::find(int id) const noexcept {
    const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                    [id](const node& each) { return each.id == id; });
    return found == nodes_.end() ? nullptr : &*found;
}

int machine::node_of_cpu(unsigned cpu) const noexcept {
    for (const node& each : nodes_) {
        if (std::find(each.cpus.begin(), each.cpus.end(), cpu) != each.cpus.end()) return each.id;
    }
    return -1;
}

int machine::node_of_cpus(std::span<const unsigned> cpus) const noexcept {
    int only = -1;
    for (const unsigned cpu : cpus) {
        const int node_id = node_of_cpu(cpu);
        if (node_id < 0 || node_id == only) continue;
        if (only >= 0) return -1;
        only = node_id;
    }
    return only;
}

unsigned machine::distance(int from, int to) const noexcept {
    const node* start = find(from);
    const node* end = find(to);
    if (start == nullptr || end == nullptr) return 0;
    const auto index = static_cast<std::size_t>(end - nodes_.data());
    return index < start->distances.size() ? start->distances[index] : 0;
}

std::vector<unsigned> allowed_cpus() {
    cpu_set allowed;
    return ::numa_sched_getaffinity(0, allowed.mask()) < 0 ? std::vector<unsigned>{}
                                                           : allowed.numbers();
}

int current_node() noexcept {
    unsigned cpu = 0;
    unsigned node = 0;
    return ::getcpu(&cpu, &node) == 0 ? static_cast<int>(node) : -1;
}

int memory_node() noexcept {
    constexpr int flags = ~0xff;  // of a policy, beside its number
    node_set nodes{};
    int policy = MPOL_DEFAULT;
    if (::get_mempolicy(&policy, nodes.data(), most_nodes, nullptr, 0) != 0) return -1;
    if ((policy & ~flags) != MPOL_BIND &&
        ::get_mempolicy(nullptr, nodes.data(), most_nodes, nullptr, MPOL_F_MEMS_ALLOWED) != 0)
        return -1;
    int only = -1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i] == 0) continue;
        if (only >= 0 || !std::has_single_bit(nodes[i])) return -1;
        only = static_cast<int>(i * word_bits) + std::countr_zero(nodes[i]);
    }
    return only;
}

int home_node() noexcept try {
    return has_several_nodes() ? machine::host().node_of_cpus(allowed_cpus()) : -1;
} catch (const std::bad_alloc&) {
    return -1;
}

void prefer_node(void* memory, std::size_t size, int node) noexcept {
    if (node < 0 || static_cast<std::size_t>(node) >= most_nodes || !has_several_nodes()) return;
    // A program that is bound to the memory of one node (numactl --membind) stays there.
    if (const int bound = memory_node(); bound >= 0) node = bound;
    const auto page = static_cast<std::uintptr_t>(::numa_pagesize());
    const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size) / page * page;
    if (begin >= end) return;
    node_set nodes{};
    nodes[static_cast<std::size_t>(node) / word_bits] =
        1UL << static_cast<std::size_t>(node) % word_bits;
    static_cast<void>(::mbind(reinterpret_cast<void*>(begin), end - begin, MPOL_PREFERRED,
                              nodes.data(), most_nodes, MPOL_MF_MOVE));
}

}  // namespace ucs::topology
