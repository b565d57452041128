// Latency that a message has in addition when its device is far from the processor that handles it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ucs::topology {
class machine;
struct device_location;
}  // namespace ucs::topology

namespace ucp {

// Returns the seconds that a message takes longer to or from a device than to one in a slot of NUMA
// node `from`, where the message is handled:
// - another node: the firmware gives distances (ACPI SLIT) relative to the distance of local
// memory,
//   which is 10 and takes about 90 ns to reach; 0 if either node is unknown (-1);
// - PCI switches: 110 ns for each, as makers of switches state for PCIe 3 to 5 (100 to 150).
// A message crosses the distance once. Pure.
[[nodiscard]] double distance_seconds(const ucs::topology::machine& host, int from,
                                      const ucs::topology::device_location& to) noexcept;

// Does the same for each of these devices and the node that this thread's memory is bound to, or,
// without a binding, the node of its processor, where memory then comes from. The result stays
// right for bound programs; for others it holds for the moment. Any thread.
[[nodiscard]] std::vector<double> distances_to(
    std::span<const ucs::topology::device_location> devices);

// Returns the seconds that a message takes longer if more peers are expected than the device keeps
// connections at hand (uct::iface_attr::connections_at_hand): the device fetches the connection's
// state from the host's memory, one round trip over PCI for reading, and one for the state that it
// writes back. Pure.
[[nodiscard]] double connection_fetch_seconds(std::size_t at_hand, std::size_t expected) noexcept;

}  // namespace ucp
