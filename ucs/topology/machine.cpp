#include "ucs/topology/machine.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <optional>

#include "ucs/sys/text_file.hpp"

namespace ucs::topology {
namespace {

// The kernel separates the numbers of a distance file by blanks.
std::vector<unsigned> parse_distances(const std::string& text) {
    std::vector<unsigned> distances;
    const char* next = text.data();
    const char* end = next + text.size();
    while (next != end) {
        unsigned value = 0;
        const auto [stop, error] = std::from_chars(next, end, value);
        if (error != std::errc{}) return {};
        distances.push_back(value);
        next = std::find_if(stop, end, [](char c) { return c != ' '; });
    }
    return distances;
}

std::vector<unsigned> cpu_list_file(const std::string& path) {
    const auto text = sys::read_text(path);
    const auto cpus = text ? sys::parse_cpu_list(*text) : std::nullopt;
    return cpus.value_or(std::vector<unsigned>{});
}

}  // namespace

machine machine::read(const std::string& root) {
    machine found;
    const std::string system = root + "/sys/devices/system";
    found.online_ = cpu_list_file(system + "/cpu/online");
    for (const unsigned id : cpu_list_file(system + "/node/online")) {
        const std::string folder = system + "/node/node" + std::to_string(id);
        const auto distances = sys::read_text(folder + "/distance");
        found.nodes_.push_back({static_cast<int>(id), cpu_list_file(folder + "/cpulist"),
                                parse_distances(distances.value_or(""))});
    }
    if (found.nodes_.empty()) found.nodes_.push_back({0, found.online_, {10}});
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

// The set must be large enough for the kernel's configured number of CPUs, which cannot be queried,
// so try growing sizes.
std::vector<unsigned> allowed_cpus() {
    constexpr std::size_t word_bits = sizeof(unsigned long) * 8;
    constexpr std::size_t most_words = 1 << 14;
    for (std::size_t words = 16; words <= most_words; words *= 2) {
        std::vector<unsigned long> set(words);
        const long bytes =
            ::syscall(SYS_sched_getaffinity, 0, words * sizeof(unsigned long), set.data());
        if (bytes < 0 && errno == EINVAL) continue;
        std::vector<unsigned> cpus;
        for (std::size_t i = 0; bytes > 0 && i < words * word_bits; ++i)
            if ((set[i / word_bits] >> i % word_bits & 1) != 0)
                cpus.push_back(static_cast<unsigned>(i));
        return cpus;
    }
    return {};
}

int current_node() noexcept {
    unsigned cpu = 0;
    unsigned node = 0;
    if (::syscall(SYS_getcpu, &cpu, &node, nullptr) != 0) return -1;
    return static_cast<int>(node);
}

int memory_node() noexcept {
    constexpr std::size_t most_nodes = 1024;  // as many as the kernel can be built for
    constexpr std::size_t bits = sizeof(unsigned long) * 8;
    std::array<unsigned long, most_nodes / bits> nodes{};
    int policy = MPOL_DEFAULT;
    const auto query = [&](int* mode, unsigned long flags) {
        return ::syscall(SYS_get_mempolicy, mode, nodes.data(), most_nodes, nullptr, flags) == 0;
    };
    if (!query(&policy, 0)) return -1;
    const bool bound = (policy & ~MPOL_MODE_FLAGS) == MPOL_BIND;
    if (!bound && !query(nullptr, MPOL_F_MEMS_ALLOWED)) return -1;
    int only = -1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i] == 0) continue;
        if (only >= 0 || !std::has_single_bit(nodes[i])) return -1;
        only = static_cast<int>(i * bits) + std::countr_zero(nodes[i]);
    }
    return only;
}

}  // namespace ucs::topology
