// Small numbers for the devices that a process uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ucs/topology/pci_address.hpp"
#include "ucs/type/result.hpp"

namespace ucs::topology {

// Number of a device in this process; small enough to be packed into addresses.
using sys_device = std::uint8_t;
inline constexpr sys_device unknown_device = 255;

// Returns the number of a PCI device, the same in every call. The first call sets the displayed
// name ("mlx5_0", "eth0"), later calls add theirs. Returns unknown_device if all 255 numbers are in
// use. Any thread.
sys_device register_device(const pci_address& address, const std::string& name);

[[nodiscard]] std::optional<pci_address> device_address(sys_device device);

// "eth0", "mlx5_0,eth1" or, without a name, the PCI address; "unknown" for unknown_device.
[[nodiscard]] std::string device_name(sys_device device);

}  // namespace ucs::topology
