// RDMA devices as the kernel describes them in files: what can be known without opening any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucs/topology/place.hpp"
#include "ucs/vfs/directory.hpp"

namespace uct::ib {

// A port, or why it cannot be used, in words.
struct port_entry {
    std::uint8_t number = 1;
    std::string why_unusable;
};

// What ROOT/sys/class/infiniband/NAME says. Immutable value, any thread.
struct device_entry {
    std::string name;
    std::string why_unusable;  // none of its ports, whatever they say
    std::vector<port_entry> ports;
    ucs::topology::place place = {};

    // A driver does what the hardware of others does: soft RoCE and the like.
    bool is_software = false;

    [[nodiscard]] static device_entry read(const std::string& name, const std::string& root = "/");
};

// All devices, sorted by name.
[[nodiscard]] std::vector<device_entry> device_entries(const std::string& root = "/");

// A file for each counter that the device keeps by itself for a port, whoever uses that. Which
// there are depends on its driver.
void describe_counters(const std::string& device, std::uint8_t port, ucs::vfs::directory& into,
                       const std::string& root = "/");

}  // namespace uct::ib
