#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ucp/api/ucp.h>

#include "tools/common/build_config.hpp"
#include "tools/common/ticks.hpp"
#include "tools/common/version.hpp"
#include "tools/info/options.hpp"
#include "ucs/arch/cpu.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/topology/machine.hpp"
#include "ucs/topology/net_device.hpp"
#include "ucs/topology/pci_tree.hpp"
#include "uct/api/iface.hpp"

namespace tools::info {
namespace {

// Nanoseconds per call of the library's clock.
double clock_cost() {
    constexpr int calls = 100'000;
    const std::uint64_t start = monotonic_ns();
    for (int call = 0; call < calls; ++call)
        static_cast<void>(ucs::time::now());
    return static_cast<double>(monotonic_ns() - start) / calls;
}

void print_cache(const char* name, std::size_t bytes) {
    if (bytes == 0) return;
    fmt::print("# {}: {} KB\n", name, bytes / 1024);
}

}  // namespace

void print_system() {
    fmt::print("# Timer frequency: {:.3f} MHz\n", 1e3 / nanoseconds_per_tick());
    fmt::print("# Clock: CLOCK_MONOTONIC, {:.0f} nsec per call\n", clock_cost());
    const ucs::arch::cpu_identity& cpu = ucs::arch::cpu();
    fmt::print("# CPU vendor: {}\n", ucs::arch::vendor_name(cpu.vendor));
    fmt::print("# CPU model: {}\n", ucs::arch::model_name(cpu.model));
    fmt::print("# CPU vectors:{}{}\n", cpu.avx2 ? " avx2" : "", cpu.avx512f ? " avx512f" : "");
    const ucs::arch::cache_sizes caches = ucs::arch::read_caches();
    print_cache("L1 data cache", caches.l1_data);
    print_cache("L1 instruction cache", caches.l1_instruction);
    print_cache("L2 cache", caches.l2);
    print_cache("L3 cache", caches.l3);
    if (caches.l3_sharers != 0) fmt::print("# L3 cache shared by: {} CPUs\n", caches.l3_sharers);
}

void print_version() {
    const library ucp = loaded_libucp();
    fmt::print("# Library version: {}\n", ucp.version);
    fmt::print("# Library path: {}\n", ucp.path);
    fmt::print("# API headers version: {}.{}.0\n", UCP_API_MAJOR, UCP_API_MINOR);
    fmt::print("# Git branch '{}', revision {}\n", build_branch, build_revision);
    fmt::print("# Configured with: {}\n", build_configuration);
}

void print_build() {
    for (const build_setting& one : build_settings) {
        fmt::print("#define {:<25} {}\n", one.name, one.value);
    }
}

namespace {

void print_size(std::string_view name, std::size_t size) {
    const std::string label = fmt::format("sizeof({}) = ", name);
    fmt::print("    {:.<41} {}\n", label, size);
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a list
void print_types() {
    fmt::print("UCT:\n");
    print_size("uct::completion", sizeof(uct::completion));
    print_size("uct::pending_request", sizeof(uct::pending_request));
    print_size("uct::iface_attr", sizeof(uct::iface_attr));
    print_size("uct::am_handler", sizeof(uct::am_handler));
    fmt::print("\nUCP:\n");
    print_size("ucp_params_t", sizeof(ucp_params_t));
    print_size("ucp_context_attr_t", sizeof(ucp_context_attr_t));
    print_size("ucp_worker_params_t", sizeof(ucp_worker_params_t));
    print_size("ucp_worker_attr_t", sizeof(ucp_worker_attr_t));
    print_size("ucp_ep_params_t", sizeof(ucp_ep_params_t));
    print_size("ucp_ep_attr_t", sizeof(ucp_ep_attr_t));
    print_size("ucp_request_param_t", sizeof(ucp_request_param_t));
    print_size("ucp_request_attr_t", sizeof(ucp_request_attr_t));
    print_size("ucp_tag_recv_info_t", sizeof(ucp_tag_recv_info_t));
    print_size("ucp_generic_dt_ops_t", sizeof(ucp_generic_dt_ops_t));
    print_size("ucp_dt_iov_t", sizeof(ucp_dt_iov_t));
}

namespace {

using namespace ucs::topology;

constexpr int width = 14;  // width of a column

void print_nodes(const machine& host) {
    for (const machine::node& node : host.nodes()) {
        fmt::print("# NUMA node {}: CPUs {}, distances {}\n", node.id, fmt::join(node.cpus, ","),
                   fmt::join(node.distances, " "));
    }
}

void print_devices(const std::vector<net_device>& devices) {
    for (const net_device& device : devices) {
        fmt::print("# {}: {}, {}, {}, MTU {}{}\n", device.name,
                   device.is_virtual ? "virtual" : device.driver, device.state,
                   device.location.text(), device.mtu,
                   device.speed_mbps == 0 ? "" : fmt::format(", {} Mb/s", device.speed_mbps));
    }
}

// Prints the connection between each two devices with hardware.
void print_matrix(const std::vector<net_device>& devices) {
    std::vector<const net_device*> shown;
    for (const net_device& device : devices) {
        if (device.location.pci) shown.push_back(&device);
    }
    const auto cell = [](std::string_view text) { return fmt::format(" {:^{}} |", text, width); };
    std::string edge = "# +";
    for (std::size_t column = 0; column <= shown.size(); ++column)
        edge += std::string(width + 2, '-') + '+';
    std::string head = "# |" + cell("");
    for (const net_device* column : shown)
        head += cell(column->name);
    fmt::print("{}\n{}\n{}\n", edge, head, edge);
    const pci_tree tree;
    for (const net_device* row : shown) {
        std::string line = "# |" + cell(row->name);
        for (const net_device* column : shown) {
            line += cell(path_class_name(tree.between(*row->location.pci, *column->location.pci)));
        }
        fmt::print("{}\n{}\n", line, edge);
    }
}

}  // namespace

void print_topology() {
    const std::vector<net_device> devices = net_devices();
    fmt::print("#\n# System topology:\n#\n");
    print_nodes(machine::host());
    fmt::print("#\n");
    print_devices(devices);
    fmt::print("#\n");
    print_matrix(devices);
    fmt::print("#\n");
}

}  // namespace tools::info
