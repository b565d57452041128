#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/info/pages.hpp"
#include "ucs/topology/machine.hpp"
#include "ucs/topology/net_device.hpp"
#include "ucs/topology/pci_tree.hpp"

namespace tools::info {
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
