// Identity of the host and of the namespaces of this process.
#pragma once

#include <cstdint>

namespace uct::sm {

// Two processes compare this to find out whether they can share memory. Plain value; 0 means that
// the system does not tell.
struct host_identity {
    std::uint64_t host = 0;            // one running kernel
    std::uint32_t net_namespace = 0;   // scope of abstract socket names
    std::uint32_t pid_namespace = 0;   // scope of process ids
    std::uint32_t user_namespace = 0;  // scope of user ids
};

// Reads the values from the system each time, because a process may change its namespaces. Any
// thread.
[[nodiscard]] host_identity read_host_identity() noexcept;

}  // namespace uct::sm
