#include "uct/ib/base/device/sysfs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "ucs/sys/text_file.hpp"
#include "ucs/topology/net_device.hpp"

namespace uct::ib {
namespace {

using ucs::sys::list_folder;
using ucs::sys::read_number;
using ucs::sys::read_text;

// "4: ACTIVE": a number and its name.
struct coded {
    int code = 0;
    std::string name;
};

std::optional<coded> read_coded(const std::string& path) {
    const auto text = read_text(path);
    if (!text) return std::nullopt;
    coded made;
    const char* const last = text->data() + text->size();
    const auto [end, error] = std::from_chars(text->data(), last, made.code);
    if (error != std::errc{}) return std::nullopt;
    if (const std::size_t name = text->find(": "); name != text->npos) {
        made.name = text->substr(name + 2);
    }
    return made;
}

// The kernel's node types (RDMA_NODE_…); InfiniBand and RoCE are both channel adapters.
std::string why_no_adapter(const std::string& folder) {
    constexpr int channel_adapter = 1, iwarp = 4;
    const auto type = read_coded(folder + "/node_type");
    if (!type) return "the kernel does not tell what it is";
    if (type->code == channel_adapter) return {};
    if (type->code == iwarp) return "iWARP devices are not supported";
    return "it is no InfiniBand or RoCE adapter, but of type " + type->name;
}

// Programs open another device file, which a container may lack.
std::string why_no_access(const std::string& name, const std::string& root) {
    const std::string folder = root + "/sys/class/infiniband_verbs";
    for (const std::string& each : list_folder(folder)) {
        if (read_text(folder + "/" + each + "/ibdev") != name) continue;
        const std::string device = root + "/dev/infiniband/" + each;
        if (::access(device.c_str(), R_OK | W_OK) == 0) return {};
        return "/dev/infiniband/" + each + " cannot be opened: " + std::strerror(errno);
    }
    return "the kernel offers it to no program: is the module ib_uverbs loaded?";
}

bool has_gid(const std::string& port) {
    const std::string folder = port + "/gids";
    const std::vector<std::string> all = list_folder(folder);
    return std::any_of(all.begin(), all.end(), [&](const std::string& each) {
        const auto gid = read_text(folder + "/" + each);
        return gid && gid->find_first_not_of("0:") != gid->npos;
    });
}

std::string why_port_unusable(const std::string& port) {
    constexpr int active = 4;
    const auto state = read_coded(port + "/state");
    if (!state) return "the kernel does not tell its state";
    if (state->code != active) return "the port is " + state->name;
    // InfiniBand needs no GID within a subnet.
    if (read_text(port + "/link_layer") == "Ethernet" && !has_gid(port)) {
        return "the port has no GID: give its network interface an address";
    }
    return {};
}

ucs::topology::device_location location_of(const std::string& folder,
                                           const std::optional<std::string>& parent,
                                           const std::string& root) {
    if (const auto hardware = ucs::sys::real_path(folder + "/device")) {
        return ucs::topology::device_location::read(*hardware);
    }
    // A software device has the location of the network interface below it.
    const auto below = parent ? ucs::topology::net_device::read(*parent, root) : std::nullopt;
    return below ? below->location : ucs::topology::device_location{};
}

}  // namespace

device_entry device_entry::read(const std::string& name, const std::string& root) {
    const std::string folder = root + "/sys/class/infiniband/" + name;
    device_entry made;
    made.name = name;
    // Only drivers on top of a network interface have this file.
    const auto parent = read_text(folder + "/parent");
    const auto device_folder = ucs::sys::real_path(folder);
    made.is_software = parent || (device_folder &&
                                  device_folder->find("/devices/virtual/") != device_folder->npos);
    made.location = location_of(folder, parent, root);
    made.why_unusable = why_no_adapter(folder);
    if (made.why_unusable.empty()) made.why_unusable = why_no_access(name, root);
    if (!made.why_unusable.empty()) return made;
    for (const std::string& each : list_folder(folder + "/ports")) {
        port_entry port;
        const char* const last = each.data() + each.size();
        const auto [end, error] = std::from_chars(each.data(), last, port.number);
        if (error != std::errc{} || end != last || port.number == 0) continue;
        port.why_unusable = why_port_unusable(folder + "/ports/" + each);
        made.ports.push_back(std::move(port));
    }
    std::sort(made.ports.begin(), made.ports.end(),
              [](const port_entry& a, const port_entry& b) { return a.number < b.number; });
    if (made.ports.empty()) made.why_unusable = "it has no port";
    return made;
}

std::vector<device_entry> device_entries(const std::string& root) {
    std::vector<device_entry> found;
    for (const std::string& each : list_folder(root + "/sys/class/infiniband"))
        found.push_back(device_entry::read(each, root));
    return found;
}

void describe_counters(const std::string& device, std::uint8_t port, ucs::vfs::directory& into,
                       const std::string& root) {
    const std::string folder = root + "/sys/class/infiniband/" + device + "/ports/" +
                               std::to_string(port) + "/hw_counters";
    for (const std::string& each : list_folder(folder)) {
        if (each == "lifespan") continue;  // the interval at which the kernel reads the device
        into.file(each, [path = folder + "/" + each] { return read_text(path).value_or(""); });
    }
}

}  // namespace uct::ib
