// What moving memory costs on this host: measured, not tabulated.
#pragma once

#include <cstddef>
#include <string>

namespace ucp {

// Seconds and bytes per second. Filled by measuring for about a millisecond, once per host: the
// figures are kept in the user's cache folder under a name made of the hardware's identity.
struct host_costs {
    double copy_overhead = 20e-9;        // starting one memcpy
    double copy_cached = 20e9;           // memcpy that stays in the second-level cache
    double copy_memory = 8e9;            // memcpy of tens of megabytes
    std::size_t cache_size = 1U << 20;   // where the one becomes the other
    double single_copy_overhead = 1e-6;  // one call of process_vm_readv
    double single_copy = 8e9;            // its bandwidth at 1 MB
    bool single_copy_works = false;
    std::string origin = "built-in defaults";  // for people

    // Bandwidth of memcpy over `length` bytes.
    [[nodiscard]] double copy_bandwidth(std::size_t length) const noexcept {
        return length <= cache_size ? copy_cached : copy_memory;
    }
};

// Reads the cache or measures. `allowed` false gives the built-in figures.
[[nodiscard]] host_costs measure_host(bool allowed);

}  // namespace ucp
