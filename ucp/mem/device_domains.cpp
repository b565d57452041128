#include "ucp/mem/device_domains.hpp"

#include "ucp/log/log.hpp"
#include "ucs/memory/device_memory.hpp"
#include "ucs/memory/dmabuf.hpp"

namespace ucp::mem {

std::uint8_t device_domains::add(const uct::component& component, const uct::resource& resource) {
    const device fresh{&component, resource, false, nullptr};
    if (resource.type == uct::device_type::accelerator) {
        cuda_ = fresh;
        return cuda_devices;
    }
    if (!resource.paired || devices_.size() >= cuda_devices) return no_device;
    devices_.push_back(fresh);
    return static_cast<std::uint8_t>(devices_.size() - 1);
}

device_domains::device* device_domains::find(std::uint8_t number) noexcept {
    if (number == cuda_devices) return cuda_ ? &*cuda_ : nullptr;
    return number < devices_.size() ? &devices_[number] : nullptr;
}

std::shared_ptr<uct::memory_domain> device_domains::open(std::uint8_t number) {
    device* const wanted = find(number);
    if (wanted == nullptr) return nullptr;
    const std::lock_guard guard(lock_);
    if (wanted->tried) return wanted->domain;
    wanted->tried = true;
    auto made = wanted->component->open_domain(wanted->resource, config_);
    if (made) wanted->domain = std::move(*made);
    return wanted->domain;
}

void device_domains::share_on(std::uint8_t number, std::span<std::byte> bytes,
                              uct::memory_access allowed, std::vector<device_memory>& into) {
    const auto domain = open(number);
    if (domain == nullptr) return;
    auto shared = domain->share(bytes, allowed);
    if (shared) into.push_back({number, std::move(*shared)});
}

std::vector<device_memory> device_domains::share(std::span<std::byte> bytes,
                                                 uct::memory_access allowed) {
    std::vector<device_memory> list;
    const bool is_host = ucs::memory::is_host(bytes.data());
    // Other devices reach memory of a GPU only if its driver exports it.
    if (is_host || ucs::memory::find_dmabuf(bytes.data(), bytes.size())) {
        for (std::size_t i = 0; i < devices_.size(); ++i)
            share_on(static_cast<std::uint8_t>(i), bytes, allowed, list);
    }
    if (!is_host) share_on(cuda_devices, bytes, allowed, list);
    return list;
}

std::unique_ptr<uct::remote_memory> device_domains::attach(std::uint8_t number,
                                                           std::span<const std::byte> key,
                                                           uct::memory_access wanted) {
    // Devices of the same kind have domains that take each other's keys.
    std::shared_ptr<uct::memory_domain> domain;
    if (number == cuda_devices) {
        domain = open(cuda_devices);
    } else {
        for (std::size_t i = 0; i < devices_.size() && domain == nullptr; ++i)
            domain = open(static_cast<std::uint8_t>(i));
    }
    if (domain == nullptr) return nullptr;
    auto made = domain->attach(key, wanted);
    return made ? std::move(*made) : nullptr;
}

}  // namespace ucp::mem
