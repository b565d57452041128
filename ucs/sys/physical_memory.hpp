// How much memory the machine has.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace ucs::sys {

// Bytes of physical memory, for limits that no program in order reaches. 16 GiB where the system
// does not tell. Any thread.
[[nodiscard]] inline std::uint64_t physical_memory() noexcept {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return std::uint64_t{16} << 30;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

}  // namespace ucs::sys
