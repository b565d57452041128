// Where a device hangs, as seen from the processors.
#pragma once

#include <optional>
#include <string>

#include "ucs/topology/pci_address.hpp"

namespace ucs::topology {

// Value type. A default one is that of something without hardware: everywhere.
struct place {
    int numa_node = -1;                   // -1: not known, or none
    unsigned switches = 0;                // PCI switches between the device and its host bridge
    std::optional<pci_address> pci = {};  // of the device, or of what it is a part of

    bool operator==(const place&) const = default;

    // `folder`: a device in the kernel's tree of devices, all links resolved; what its nearest
    // folder above tells holds, because interfaces of virtio and of drivers with several functions
    // lie some folders below the device that has an address and a node. Any thread.
    [[nodiscard]] static place read(const std::string& folder);

    // "NUMA node 1, PCI 0000:17:00.0 behind 2 switches"; "unknown" for a default one.
    [[nodiscard]] std::string text() const;
};

}  // namespace ucs::topology
