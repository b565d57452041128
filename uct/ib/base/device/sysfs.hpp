// RDMA devices as described by the kernel's files, without opening any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucs/topology/device_location.hpp"
#include "ucs/vfs/directory.hpp"

namespace uct::ib {

// A port, with the reason if it is unusable.
struct port_entry {
    std::uint8_t number = 1;
    std::string why_unusable;
};

// Content of ROOT/sys/class/infiniband/NAME. Immutable value, any thread.
struct device_entry {
    std::string name;
    std::string why_unusable;  // if not empty, none of its ports is usable
    std::vector<port_entry> ports;
    ucs::topology::device_location location = {};

    // A software device, such as soft RoCE: a driver does the work of the hardware.
    bool is_software = false;

    [[nodiscard]] static device_entry read(const std::string& name, const std::string& root = "/");
};

// All devices, sorted by name.
[[nodiscard]] std::vector<device_entry> device_entries(const std::string& root = "/");

// Adds a file for each counter that the device keeps for a port, for all of the port's users. The
// set of counters depends on the driver.
void describe_counters(const std::string& device, std::uint8_t port, ucs::vfs::directory& into,
                       const std::string& root = "/");

}  // namespace uct::ib
