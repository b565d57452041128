#include "ucs/topology/device_location.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ucs/config/text.hpp"
#include "ucs/sys/text_file.hpp"

namespace ucs::topology {
namespace {

// Counts the switches above a device. Its path names each PCI function to cross: the root port,
// then for each switch its upstream and its downstream port (a bridge of old PCI is a single
// function), and the device itself. Devices of the root complex have no switches above them.
unsigned switches_above(const std::vector<std::string>& path) {
    const auto functions = std::count_if(path.begin(), path.end(), [](const std::string& part) {
        return pci_address::parse(part).has_value();
    });
    return functions > 1 ? static_cast<unsigned>(functions - 1) / 2 : 0;
}

}  // namespace

device_location device_location::read(const std::string& folder) {
    device_location found;
    found.switches = switches_above(config::split(folder, '/'));
    std::string current = folder;
    while (!current.empty() && (found.numa_node < 0 || !found.pci)) {
        if (found.numa_node < 0) {
            const long long node = sys::read_number(current + "/numa_node").value_or(-1);
            if (node >= 0) found.numa_node = static_cast<int>(node);
        }
        if (!found.pci) found.pci = pci_address::parse(sys::base_name(current));
        const std::size_t slash = current.rfind('/');
        current.resize(slash == current.npos ? 0 : slash);
    }
    return found;
}

std::string device_location::text() const {
    std::string made = numa_node < 0 ? "" : fmt::format("NUMA node {}", numa_node);
    if (pci) made += (made.empty() ? "PCI " : ", PCI ") + pci->text();
    if (switches > 0) {
        made += fmt::format(" behind {} switch{}", switches, switches == 1 ? "" : "es");
    }
    return made.empty() ? "unknown" : made;
}

}  // namespace ucs::topology
