// Whether those who wait for each other can all run at once.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdint>

namespace ucg::node {

// Whether so many ranks of this node outnumber the cores that they have. A process that is bound to
// one core says nothing about the others': they are likely bound to other cores, so then the
// machine's number counts.
[[nodiscard]] inline bool outnumber_cores(std::uint64_t ranks) noexcept {
    cpu_set_t set;
    const int mine = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    static const long online = ::sysconf(_SC_NPROCESSORS_ONLN);  // reads a file
    const long cores = mine > 1 ? mine : online > 0 ? online : 1;
    return ranks > static_cast<std::uint64_t>(cores);
}

}  // namespace ucg::node
