#include "uct/ib/base/device.hpp"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "ucs/sys/text_file.hpp"
#include "ucs/topology/net_device.hpp"
#include "uct/ib/base/port.hpp"

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

void add_ports(ibv_device& device, const char* transport, listing& into) {
    const std::string name = ibv_get_device_name(&device);
    const auto unusable = [&](std::string what, std::string reason) {
        into.unusable.push_back(
            {transport, std::move(what), device_type::network, std::move(reason)});
    };
    if (device.node_type == IBV_NODE_RNIC || device.transport_type == IBV_TRANSPORT_IWARP) {
        return unusable(name, "iWARP devices are not supported");
    }
    const context_handle context(ibv_open_device(&device));
    if (context == nullptr) {
        return unusable(name, std::string("it cannot be opened: ") + std::strerror(errno));
    }
    ibv_device_attr attr{};
    if (const int error = ibv_query_device(context.get(), &attr); error != 0) {
        return unusable(name, std::string("it cannot be asked: ") + std::strerror(error));
    }
    const int numa_node = numa_node_of(name);
    for (std::uint8_t number = 1; number <= attr.phys_port_cnt; ++number) {
        const port_name port{name, number};
        ibv_port_attr state{};
        if (const int error = ibv_query_port(context.get(), number, &state); error != 0) {
            unusable(port.text(), std::string("it cannot be asked: ") + std::strerror(error));
            continue;
        }
        if (std::string reason = why_port_unusable(state); !reason.empty()) {
            unusable(port.text(), std::move(reason));
            continue;
        }
        into.usable.push_back({transport, port.text(), device_type::network, numa_node});
    }
}

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
    if (std::string why_not; !load_verbs(why_not)) {
        ucs::log::error(ib_log, "{} cannot be opened: {}", name, why_not);
        return UCS_ERR_NO_DEVICE;
    }
    const device_list all;
    for (ibv_device* each : all.devices()) {
        if (name != ibv_get_device_name(each)) continue;
        context_handle context(ibv_open_device(each));
        if (context == nullptr) {
            ucs::log::error(ib_log, "{} cannot be opened: {}", name, std::strerror(errno));
            return UCS_ERR_IO_ERROR;
        }
        const int flags = ::fcntl(context->async_fd, F_GETFL);
        ::fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK);
        return context;
    }
    ucs::log::error(ib_log, "there is no RDMA device {}", name);
    return UCS_ERR_NO_DEVICE;
}

int numa_node_of(const std::string& device) {
    const std::string folder = "/sys/class/infiniband/" + device;
    const auto node = ucs::sys::read_number(folder + "/device/numa_node");
    if (node && *node >= 0) return static_cast<int>(*node);
    // Soft RoCE tells the interface below it.
    const auto parent = ucs::sys::read_text(folder + "/parent");
    const auto below = parent ? ucs::topology::net_device::read(*parent) : std::nullopt;
    return below ? below->numa_node : -1;
}

listing list_ports(const char* name) {
    listing found;
    // Most hosts have none; they need not load a library to know.
    if (ucs::sys::list_folder("/sys/class/infiniband").empty()) {
        found.unusable.push_back({name, "any", device_type::network, "there is no RDMA device"});
        return found;
    }
    if (std::string why_not; !load_verbs(why_not)) {
        found.unusable.push_back({name, "any", device_type::network, std::move(why_not)});
        return found;
    }
    const device_list all;
    for (ibv_device* each : all.devices())
        add_ports(*each, name, found);
    if (found.usable.empty() && found.unusable.empty()) {
        found.unusable.push_back(
            {name, "any", device_type::network,
             all.failed() ? std::string("devices cannot be listed: ") + std::strerror(errno)
                          : "there is no RDMA device"});
    }
    return found;
}

}  // namespace uct::ib
