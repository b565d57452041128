// Registers this process's memory with the devices that reach memory by keys.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "ucs/config/source.hpp"
#include "uct/api/component.hpp"

namespace ucp::mem {

// Memory that a device shares with peers, with the device's number.
struct device_memory {
    std::uint8_t device;
    uct::shared_memory shared;
};

// Number that stands for no device.
inline constexpr std::uint8_t no_device = 0xff;
// Number of the domain of all devices of CUDA, which is the same at every owner.
inline constexpr std::uint8_t cuda_devices = 0xfe;

// One memory domain for each device whose endpoints come in pairs, and one for all devices of CUDA;
// these reach memory by keys. A domain is opened at its first use, when an interface is opened or
// memory is registered, and is shared from then on. Peers know the devices by the numbers given
// here. Owned by the context. Any thread.
class device_domains {
public:
    explicit device_domains(const ucs::config::source& config) noexcept : config_(config) {}

    // Called by the context before everything else. Returns the device's number, or no_device if it
    // has no memory domain.
    std::uint8_t add(const uct::component& component, const uct::resource& resource);

    // Returns nullptr if there is no such domain or it cannot be opened, which is logged once.
    std::shared_ptr<uct::memory_domain> open(std::uint8_t number);

    // Shares memory on all devices that can. If a device refuses, the memory is reached by
    // messages; the device logs the reason.
    std::vector<device_memory> share(std::span<std::byte> bytes, uct::memory_access allowed);

    // Attaches a peer's memory by the key of its device `number`. Returns nullptr if the key is
    // malformed or of another kind.
    std::unique_ptr<uct::remote_memory> attach(std::uint8_t number, std::span<const std::byte> key,
                                               uct::memory_access wanted);

private:
    struct device {
        const uct::component* component;
        uct::resource resource;
        bool tried = false;
        std::shared_ptr<uct::memory_domain> domain;
    };
    [[nodiscard]] device* find(std::uint8_t number) noexcept;
    void share_on(std::uint8_t number, std::span<std::byte> bytes, uct::memory_access allowed,
                  std::vector<device_memory>& into);

    const ucs::config::source& config_;
    std::mutex lock_;
    std::vector<device> devices_;
    std::optional<device> cuda_;
};

}  // namespace ucp::mem
