#include "ucs/topology/place.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ucs/config/text.hpp"
#include "ucs/sys/text_file.hpp"

namespace ucs::topology {
namespace {

// A path names each PCI function that has to be crossed: the port of the root, then for each
// switch its port upwards and the one downwards (a bridge of old PCI is a single one), and the
// device itself. Devices of the root complex have neither.
unsigned switches_above(const std::vector<std::string>& path) {
    const auto functions = std::count_if(path.begin(), path.end(), [](const std::string& part) {
        return pci_address::parse(part).has_value();
    });
    return functions > 1 ? static_cast<unsigned>(functions - 1) / 2 : 0;
}

}  // namespace

place place::read(const std::string& folder) {
    place found;
    found.switches = switches_above(config::split(folder, '/'));
    std::string at = folder;
    while (!at.empty() && (found.numa_node < 0 || !found.pci)) {
        if (found.numa_node < 0) {
            const long long node = sys::read_number(at + "/numa_node").value_or(-1);
            if (node >= 0) found.numa_node = static_cast<int>(node);
        }
        if (!found.pci) found.pci = pci_address::parse(sys::base_name(at));
        const std::size_t slash = at.rfind('/');
        at.resize(slash == at.npos ? 0 : slash);
    }
    return found;
}

std::string place::text() const {
    std::string made = numa_node < 0 ? "" : fmt::format("NUMA node {}", numa_node);
    if (pci) made += (made.empty() ? "PCI " : ", PCI ") + pci->text();
    if (switches > 0) {
        made += fmt::format(" behind {} switch{}", switches, switches == 1 ? "" : "es");
    }
    return made.empty() ? "unknown" : made;
}

}  // namespace ucs::topology
