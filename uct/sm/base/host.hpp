// Which host and which namespaces this process lives in.
#pragma once

#include <cstdint>

namespace uct::sm {

// What two processes compare to find out whether they can share memory. Plain value; 0 stands for
// "the system does not say".
struct host_identity {
    std::uint64_t host = 0;            // one running kernel
    std::uint32_t net_namespace = 0;   // abstract socket names live in it
    std::uint32_t pid_namespace = 0;   // process ids mean something only inside it
    std::uint32_t user_namespace = 0;  // user ids mean something only inside it
};

// Asks the system each time: a process may change its namespaces. Any thread.
[[nodiscard]] host_identity read_host_identity() noexcept;

}  // namespace uct::sm
