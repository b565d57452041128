#include "ucp/mem/device_domains.hpp"

#include "ucp/log/log.hpp"

namespace ucp::mem {

std::uint8_t device_domains::add(const uct::component& component, const uct::resource& resource) {
    if (!resource.paired || devices_.size() >= no_device) return no_device;
    devices_.push_back({&component, resource, false, nullptr});
    return static_cast<std::uint8_t>(devices_.size() - 1);
}

std::shared_ptr<uct::memory_domain> device_domains::open(std::uint8_t number) {
    if (number >= devices_.size()) return nullptr;
    const std::lock_guard guard(lock_);
    device& wanted = devices_[number];
    if (wanted.tried) return wanted.domain;
    wanted.tried = true;
    auto made = wanted.component->open_domain(wanted.resource, config_);
    if (made) wanted.domain = std::move(*made);
    return wanted.domain;
}

std::vector<device_memory> device_domains::share(std::span<std::byte> bytes,
                                                 uct::memory_access allowed) {
    std::vector<device_memory> list;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        const auto number = static_cast<std::uint8_t>(i);
        const auto domain = open(number);
        if (domain == nullptr) continue;
        auto shared = domain->share(bytes, allowed);
        if (shared) list.push_back({number, std::move(*shared)});
    }
    return list;
}

std::unique_ptr<uct::remote_memory> device_domains::attach(std::span<const std::byte> key,
                                                           uct::memory_access wanted) {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        const auto domain = open(static_cast<std::uint8_t>(i));
        if (domain == nullptr) continue;
        auto made = domain->attach(key, wanted);
        return made ? std::move(*made) : nullptr;
    }
    return nullptr;
}

}  // namespace ucp::mem
