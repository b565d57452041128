// Network interfaces of the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucs/topology/place.hpp"
#include "uct/tcp/address.hpp"

namespace uct::tcp {

// Real hardware ranks above what is made of it, and that above bridges and tunnels, which often
// lead nowhere.
enum class device_kind : std::uint8_t { loopback, hardware, stacked, bridge, tunnel };

// One interface as the kernel shows it now. Value type.
struct device {
    std::string name;
    std::uint32_t index = 0;
    device_kind kind = device_kind::hardware;
    bool up = false;
    bool carrier = false;
    listen_point v4;   // first address of the family; no port
    listen_point v6;   // a global one if there is one
    double speed = 0;  // bytes per second; 0: unknown
    ucs::topology::place place = {};

    // Why it cannot be used, in words; empty when it can.
    [[nodiscard]] std::string why_unusable(bool use_bridges) const;
};

// Every interface, in the kernel's order. Errors are logged and give an empty list.
[[nodiscard]] std::vector<device> list_devices();

// What a message over the interface is expected to cost.
struct device_cost {
    double latency;    // seconds
    double bandwidth;  // bytes per second
};
[[nodiscard]] device_cost estimate(device_kind kind, double speed) noexcept;

}  // namespace uct::tcp
