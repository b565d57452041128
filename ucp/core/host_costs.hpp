// Measured costs of moving memory on this host.
#pragma once

#include <cstddef>
#include <string>

namespace ucp {

// Times are in seconds, rates in bytes per second. Measuring takes about a millisecond and happens
// once per host: the figures are kept in the user's cache folder, in a file named after the
// hardware.
struct host_costs {
    double copy_overhead = 20e-9;  // starting one memcpy
    double copy_cached = 20e9;     // memcpy that stays in the second-level cache
    double copy_memory = 8e9;      // memcpy of tens of megabytes
    // above this size, copy_memory applies instead of copy_cached
    std::size_t cache_size = 1U << 20;
    double single_copy_overhead = 1e-6;  // one call of process_vm_readv
    double single_copy = 8e9;            // bandwidth of process_vm_readv at 1 MB
    bool single_copy_works = false;
    std::string origin = "built-in defaults";  // where the figures come from, for display

    // Returns the bandwidth of memcpy over `length` bytes.
    [[nodiscard]] double copy_bandwidth(std::size_t length) const noexcept {
        return length <= cache_size ? copy_cached : copy_memory;
    }
};

// Returns the cached figures, or measures them if there are none. If `allowed` is false, returns
// the built-in figures without reading or measuring.
[[nodiscard]] host_costs measure_host(bool allowed);

}  // namespace ucp
