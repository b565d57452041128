// Network interfaces as the kernel describes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ucs/topology/device_location.hpp"

namespace ucs::topology {

// A network interface, read from ROOT/sys/class/net/NAME. Immutable value, any thread.
struct net_device {
    std::string name;
    std::string path;         // resolved folder in /sys/devices
    std::string state;        // "up", "down", "unknown" (also for loopback)
    std::string driver;       // of the hardware, "mlx5_core"; empty for virtual interfaces
    unsigned speed_mbps = 0;  // 0: the driver does not report it
    unsigned mtu = 0;
    bool is_virtual = false;  // no hardware behind it: lo, veth, bridges, tunnels
    bool is_loopback = false;
    device_location location;

    // Returns nullopt if there is no such interface.
    [[nodiscard]] static std::optional<net_device> read(const std::string& name,
                                                        const std::string& root = "/");
};

// All interfaces, sorted by name.
[[nodiscard]] std::vector<net_device> net_devices(const std::string& root = "/");

}  // namespace ucs::topology
