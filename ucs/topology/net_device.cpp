#include "ucs/topology/net_device.hpp"

#include <limits>

#include "ucs/sys/text_file.hpp"

namespace ucs::topology {
namespace {

unsigned read_unsigned(const std::string& path) {
    const long long value = sys::read_number(path).value_or(0);
    const bool fits = value > 0 && value <= std::numeric_limits<unsigned>::max();
    return fits ? static_cast<unsigned>(value) : 0;
}

}  // namespace

std::optional<net_device> net_device::read(const std::string& name, const std::string& root) {
    // The name becomes a part of a path.
    if (name.empty() || name.find('/') != name.npos || name.starts_with('.')) return std::nullopt;
    const std::string folder = root + "/sys/class/net/" + name;
    const auto path = sys::real_path(folder);
    if (!path) return std::nullopt;
    net_device found;
    found.name = name;
    found.path = *path;
    found.state = sys::read_text(folder + "/operstate").value_or("unknown");
    found.speed_mbps = read_unsigned(folder + "/speed");
    found.mtu = read_unsigned(folder + "/mtu");
    found.is_loopback = sys::read_number(folder + "/type").value_or(0) == 772;  // ARPHRD_LOOPBACK
    const auto device = sys::real_path(folder + "/device");
    found.is_virtual = !device || path->find("/devices/virtual/") != path->npos;
    if (device) {
        found.driver = sys::base_name(sys::real_path(folder + "/device/driver").value_or(""));
        found.location = device_location::read(*device);
    }
    return found;
}

std::vector<net_device> net_devices(const std::string& root) {
    std::vector<net_device> found;
    for (const std::string& name : sys::list_folder(root + "/sys/class/net")) {
        if (auto device = net_device::read(name, root)) found.push_back(std::move(*device));
    }
    return found;
}

}  // namespace ucs::topology
