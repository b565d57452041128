#include "uct/ib/base/device/device.hpp"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "uct/ib/base/device/sysfs.hpp"

namespace uct::ib {
namespace {

struct list_deleter {
    void operator()(ibv_device** list) const noexcept { ibv_free_device_list(list); }
};

class device_list {
public:
    device_list() : list_(ibv_get_device_list(&count_)) {}
    [[nodiscard]] std::span<ibv_device* const> devices() const noexcept {
        if (list_ == nullptr) return {};
        return {list_.get(), static_cast<std::size_t>(count_)};
    }
    [[nodiscard]] bool failed() const noexcept { return list_ == nullptr; }

private:
    int count_ = 0;
    std::unique_ptr<ibv_device*, list_deleter> list_;
};

}  // namespace

std::optional<port_name> port_name::parse(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    port_name made{std::string(text.substr(0, colon)), 0};
    const char* const first = text.data() + colon + 1;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, made.port);
    if (error != std::errc{} || end != last || made.port == 0) return std::nullopt;
    return made;
}

ucs::result<context_handle> open_device(const std::string& name) {
    if (std::string reason; !load_verbs(reason)) {
        ucs::log::error(ib_log, "{} cannot be opened: {}", name, reason);
        return UCS_ERR_NO_DEVICE;
    }
    const device_list all;
    for (ibv_device* each : all.devices()) {
        if (name != ibv_get_device_name(each)) continue;
        context_handle context(ucs::sys::has_descriptor_left() ? ibv_open_device(each) : nullptr);
        if (context == nullptr) {
            ucs::log::error(ib_log, "{} cannot be opened: {}", name, std::strerror(errno));
            return UCS_ERR_IO_ERROR;
        }
        const int flags = ::fcntl(context->async_fd, F_GETFL);
        ::fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK);
        return context;
    }
    // The kernel may still list the device, see list_ports.
    ucs::log::error(ib_log, "there is no RDMA device {}, or libibverbs has no driver for it", name);
    return UCS_ERR_NO_DEVICE;
}

listing list_ports(const char* name, const std::string& root) {
    listing found;
    const auto unusable = [&](std::string device, std::string reason) {
        found.unusable.push_back(
            {name, std::move(device), device_type::network, std::move(reason)});
    };
    const std::vector<device_entry> devices = device_entries(root);
    for (const device_entry& device : devices) {
        if (!device.why_unusable.empty()) unusable(device.name, device.why_unusable);
        for (const port_entry& port : device.ports) {
            std::string text = port_name{device.name, port.number}.text();
            if (port.why_unusable.empty()) {
                found.usable.push_back({.transport = name,
                                        .device = std::move(text),
                                        .location = device.location,
                                        .rdma = true});
            } else {
                unusable(std::move(text), port.why_unusable);
            }
        }
    }
    if (devices.empty()) unusable("any", "there is no RDMA device");
    return found;
}

listing list_ports(const char* name) {
    listing found = list_ports(name, "/");
    // Most hosts have no device, so the library is not loaded to find that out.
    if (found.usable.empty()) return found;
    std::string reason;
    if (load_verbs(reason)) return found;
    for (resource& each : found.usable)
        found.unusable.push_back({name, std::move(each.device), each.type, reason});
    found.usable.clear();
    return found;
}

}  // namespace uct::ib
