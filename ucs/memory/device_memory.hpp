// Tells memory of devices from memory of the host.
#pragma once

#include <atomic>
#include <optional>

#include "ucs/cuda/pointer.hpp"
#include "ucs/memory/host_pages.hpp"

namespace ucs::memory {

// The memory at an address, as far as the driver tells.
struct memory_at {
    std::optional<cuda::device_memory> device;  // empty: memory of the host
    // False if nothing may access the address: it is no memory of the host, and no memory of a
    // device that the driver admits to.
    bool is_known = true;
};

namespace detail {
// Set when this process may have memory of a device, and never cleared.
inline constinit std::atomic<bool> has_device_memory{false};
inline constinit host_pages known_host_pages;
// Asks the driver and the system.
[[nodiscard]] memory_at ask_driver(const void* address) noexcept;
[[nodiscard]] bool ask_whether_host(const void* address) noexcept;
}  // namespace detail

// Must exist while the functions below are used. The first one of the process begins to watch for
// memory of devices: it loads the CUDA driver if there is one, without initializing it. With the
// end of the last one, everything is released that copies have taken from the driver. Any thread.
class device_memory_user {
public:
    device_memory_user() noexcept;
    ~device_memory_user();
    device_memory_user(const device_memory_user&) = delete;
    device_memory_user& operator=(const device_memory_user&) = delete;
};

// Tells the functions below that memory of a device exists, although no allocation was noticed.
void expect_device_memory() noexcept;

// Returns true if the address, which may be null, is memory of the host. Otherwise it is memory of
// a device (find_device_memory returns it), or no memory at all, such as freed memory of a device.
// In a process that has allocated no memory of a device this is one load; otherwise a few
// nanoseconds for a page that was seen before, and 0.3 us for others. Any thread.
[[nodiscard]] inline bool is_host(const void* address) noexcept {
    if (!detail::has_device_memory.load(std::memory_order_relaxed)) [[likely]]
        return true;
    return detail::known_host_pages.contains(address) || detail::ask_whether_host(address);
}

// Returns the same as is_host and find_device_memory, and asks the driver only once. Any thread.
[[nodiscard]] inline memory_at find_memory(const void* address) noexcept {
    if (!detail::has_device_memory.load(std::memory_order_relaxed) ||
        detail::known_host_pages.contains(address))
        return {};
    return detail::ask_driver(address);
}

// Returns the device memory of which the address is a part; nothing for host memory. Never
// outdated: what is remembered of an allocation is used only after the driver has confirmed that
// the address still belongs to it. Any thread.
[[nodiscard]] std::optional<cuda::device_memory> find_device_memory(const void* address) noexcept;

// Returns the type of the memory at an address.
[[nodiscard]] ucs_memory_type_t type_of(const void* address) noexcept;

}  // namespace ucs::memory
