// What it costs when a device hangs at another NUMA node than the processor that works with it.
#pragma once

#include <span>
#include <vector>

namespace ucs::topology {
class machine;
}

namespace ucp::wireup {

// Seconds that a message takes longer to or from a device on node `to` when it is handled on node
// `from`; 0 where either is unknown (-1). The firmware tells distances (ACPI SLIT) relative to that
// of local memory, which is 10 and takes about 90 ns to reach; a message crosses once. Pure.
[[nodiscard]] double detour_seconds(const ucs::topology::machine& here, int from, int to) noexcept;

// The same for this thread's processor and the devices of these nodes. Programs that are bound to
// processors have the answer that holds; others have that of the moment. Any thread.
[[nodiscard]] std::vector<double> detours_to(std::span<const int> nodes);

}  // namespace ucp::wireup
