// The positions of PCI devices in the PCI tree, and their distances.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ucs/topology/machine.hpp"

namespace ucs::topology {

// domain:bus:device.function, in hexadecimal: 0000:17:00.1.
struct pci_address {
    std::uint32_t domain = 0;
    std::uint8_t bus = 0;
    std::uint8_t device = 0;
    std::uint8_t function = 0;

    auto operator<=>(const pci_address&) const = default;

    // Parses an address, whose domain may be missing.
    [[nodiscard]] static std::optional<pci_address> parse(std::string_view text) noexcept;
    [[nodiscard]] std::string text() const;
};

// The connection between two devices, or a device and a processor; nearest first.
enum class path_class {
    same_device,  // functions of one device included
    same_bridge,  // below one PCI switch: traffic does not touch the host bridge
    same_root,    // below one host bridge
    same_node,    // different host bridges of one NUMA node
    cross_node,   // between NUMA nodes
    unknown,
};
[[nodiscard]] const char* path_class_name(path_class path) noexcept;

// Reads the PCI tree below ROOT/sys on every call; keeps nothing. Any thread.
class pci_tree {
public:
    explicit pci_tree(std::string root = "/") : root_(std::move(root)) {}

    // NUMA node of a device; -1: the device or its node is not known.
    [[nodiscard]] int numa_node(const pci_address& device) const;

    [[nodiscard]] path_class between(const pci_address& left, const pci_address& right) const;
    [[nodiscard]] path_class to_node(const pci_address& device, int node) const;
    [[nodiscard]] path_class to_cpu(const pci_address& device, unsigned cpu,
                                    const machine& on) const;

    // "8.0 GT/s PCIe" and a width of 16 as bytes per second; 0: not known.
    [[nodiscard]] double bandwidth(const pci_address& device) const;

private:
    // The resolved path of a device, "…/pci0000:16/0000:16:02.0/0000:17:00.0"; empty: no such one.
    [[nodiscard]] std::string device_path(const pci_address& device) const;

    std::string root_;
};

}  // namespace ucs::topology
