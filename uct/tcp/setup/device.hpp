// Network interfaces of the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucs/topology/device_location.hpp"
#include "uct/tcp/setup/address.hpp"

namespace uct::tcp {

// Ordered by preference: hardware before stacked interfaces, and these before bridges and tunnels,
// which often reach no peer.
enum class device_kind : std::uint8_t { loopback, hardware, stacked, bridge, tunnel };

// One interface with its present state in the kernel. Value type.
struct device {
    std::string name;
    std::uint32_t index = 0;
    device_kind kind = device_kind::hardware;
    bool up = false;
    bool carrier = false;
    listen_point v4;   // first address of the family, without port
    listen_point v6;   // a global address if there is one
    double speed = 0;  // bytes per second; 0: unknown
    ucs::topology::device_location location = {};

    // Returns why the interface cannot be used, or an empty text if it can.
    [[nodiscard]] std::string why_unusable(bool use_bridges) const;
};

// Returns all interfaces in the kernel's order. Errors are logged and give an empty list.
[[nodiscard]] std::vector<device> list_devices();

// Expected cost of a message over the interface.
struct device_cost {
    double latency;    // seconds
    double bandwidth;  // bytes per second
};
[[nodiscard]] device_cost estimate(device_kind kind, double speed) noexcept;

}  // namespace uct::tcp
