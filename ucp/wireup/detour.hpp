// What it costs when a device is far from the processor that works with it.
#pragma once

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

// The same for this thread's processor and each of these devices. Programs that are bound to
// processors have the answer that holds; others have that of the moment. Any thread.
[[nodiscard]] std::vector<double> detours_to(std::span<const ucs::topology::place> devices);

}  // namespace ucp::wireup
