// What it costs when a device is far from the processor that works with it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ucs::topology {
class machine;
struct place;
}  // namespace ucs::topology

namespace ucp::wireup {

// Seconds that a message takes longer to or from a device than to one in a slot of node `from`,
// where it is handled:
// - another node: the firmware tells distances (ACPI SLIT) relative to that of local memory, which
//   is 10 and takes about 90 ns to reach; nothing where either node is unknown (-1);
// - PCI switches: 110 ns for each, what makers of switches state for PCIe 3 to 5 (100 to 150).
// A message crosses once. Pure.
[[nodiscard]] double detour_seconds(const ucs::topology::machine& here, int from,
                                    const ucs::topology::place& to) noexcept;

// The same for each of these devices and the node that this thread's memory is bound to, or else
// that of its processor, where memory comes from when nothing is said. Programs that are bound have
// the answer that holds; others have that of the moment. Any thread.
[[nodiscard]] std::vector<double> detours_to(std::span<const ucs::topology::place> devices);

// Seconds that a message takes longer where more peers are expected than the device keeps
// connections at hand (uct::iface_attr::connections_at_hand): it fetches the connection's state
// from the host's memory, a round trip over PCI for reading, and one for what is written back.
// Pure.
[[nodiscard]] double crowd_seconds(std::size_t at_hand, std::size_t expected) noexcept;

}  // namespace ucp::wireup
