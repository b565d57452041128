// Tells whether the ranks of a node can all run at the same time.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdint>

namespace ucg::node {

// Returns whether this many ranks of the node outnumber the cores that they have. If this process
// is bound to one core, the other ranks are likely bound to other cores, so the machine's number of
// cores counts.
[[nodiscard]] inline bool exceeds_cores(std::uint64_t ranks) noexcept {
    cpu_set_t set;
    const int own_cores = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    static const long online = ::sysconf(_SC_NPROCESSORS_ONLN);  // reads a file
    const long cores = own_cores > 1 ? own_cores : online > 0 ? online : 1;
    return ranks > static_cast<std::uint64_t>(cores);
}

}  // namespace ucg::node
