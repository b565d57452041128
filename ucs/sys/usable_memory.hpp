// Limits of memory: what this process may use, and the part of it that peers may fill.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace ucs::sys {

// Returns the bytes that this process may use: physical memory, or less if a cgroup or RLIMIT_AS
// limits it. Returns 16 GiB if the system does not report it. Read once, at the first call. Any
// thread.
[[nodiscard]] std::uint64_t usable_memory() noexcept;

// Returns the limit of bytes that all peers together may store in a pool that well-behaved peers
// never fill: an eighth of the usable memory, at least 256 MiB, but never more than half of it. Any
// thread.
[[nodiscard]] std::uint64_t peer_memory_limit() noexcept;
// Returns the same limit for the given amount of usable memory.
[[nodiscard]] std::uint64_t peer_memory_limit(std::uint64_t usable) noexcept;

// Returns the smallest limit on memory among a process's cgroup and those above it, or the greatest
// number if there is none. `membership`: text of /proc/PID/cgroup, of cgroup version 1, 2 or both.
// `mount`: folder where cgroups are mounted, /sys/fs/cgroup.
[[nodiscard]] std::uint64_t cgroup_memory_limit(const std::string& membership,
                                                const std::string& mount);

// Returns the bytes that the C library's allocator uses for an object of `bytes` bytes: a header of
// 8 bytes, rounded up to a multiple of 16. Large blocks use up to a page more, which is negligible
// for their size.
[[nodiscard]] constexpr std::uint64_t heap_cost(std::uint64_t bytes) noexcept {
    constexpr std::uint64_t header = 8;
    constexpr std::uint64_t smallest = 32;
    return std::max(smallest, (bytes + header + 15) / 16 * 16);
}

}  // namespace ucs::sys
