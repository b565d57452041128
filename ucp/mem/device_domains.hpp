// The memory of this process as the devices know it that reach it by keys.
#pragma once

#include <mutex>
#include <vector>

#include "ucs/config/source.hpp"
#include "uct/api/component.hpp"

namespace ucp::mem {

// Memory that a device shares with peers, under the device's number.
struct device_memory {
    std::uint8_t device;
    uct::shared_memory shared;
};

// Names no device.
inline constexpr std::uint8_t no_device = 0xff;

// One memory domain for each device whose endpoints come in pairs; those reach memory by keys.
// Opened at first use, by whoever opens an interface or registers memory; all who follow share it.
// Peers know the devices by their numbers here. Owned by the context. Any thread.
class device_domains {
public:
    explicit device_domains(const ucs::config::source& config) noexcept : config_(config) {}

    // Before everything else, by the context. Its number, or no_device: it has none.
    std::uint8_t add(const uct::component& component, const uct::resource& where);

    // nullptr: there is none, or it cannot be opened, which is logged once.
    std::shared_ptr<uct::memory_domain> open(std::uint8_t number);

    // Shares memory on all devices that can. What a device refuses goes by messages; the device's
    // own line in the log says why.
    std::vector<device_memory> share(std::span<std::byte> bytes, uct::memory_access allowed);

    // A peer's memory by a key of such a device; nullptr: it is malformed, or of another kind.
    std::unique_ptr<uct::remote_memory> attach(std::span<const std::byte> key,
                                               uct::memory_access wanted);

private:
    struct device {
        const uct::component* component;
        uct::resource where;
        bool tried = false;
        std::shared_ptr<uct::memory_domain> domain;
    };
    const ucs::config::source& config_;
    std::mutex lock_;
    std::vector<device> devices_;
};

}  // namespace ucp::mem
