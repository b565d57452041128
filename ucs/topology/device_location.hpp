// The location of a device, relative to the processors.
#pragma once

#include <optional>
#include <string>

#include "ucs/topology/pci_tree.hpp"

namespace ucs::topology {

// Value type. The default is the location of a device without hardware, which is near every
// processor.
struct device_location {
    int numa_node = -1;                   // -1: not known, or none
    unsigned switches = 0;                // PCI switches between the device and its host bridge
    std::optional<pci_address> pci = {};  // address of the device, or of its parent device

    bool operator==(const device_location&) const = default;

    // Reads the location of a device. `folder`: its folder in the kernel's tree of devices, with
    // all links resolved. The values of the nearest folder above apply, because interfaces of
    // virtio and of drivers with several functions are some folders below the device that has an
    // address and a node. Any thread.
    [[nodiscard]] static device_location read(const std::string& folder);

    // "NUMA node 1, PCI 0000:17:00.0 behind 2 switches"; "unknown" for a default one.
    [[nodiscard]] std::string text() const;
};

}  // namespace ucs::topology
