#include "uct/tcp/setup/device.hpp"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "ucs/sys/text_file.hpp"
#include "ucs/topology/net_device.hpp"
#include "uct/tcp/socket.hpp"

namespace uct::tcp {

namespace {

namespace fs = std::filesystem;

struct free_list {
    void operator()(ifaddrs* list) const noexcept { ::freeifaddrs(list); }
};

long read_number(const fs::path& path, long otherwise) {
    return static_cast<long>(ucs::sys::read_number(path.string()).value_or(otherwise));
}

device_kind kind_of(const fs::path& folder, unsigned flags) {
    std::error_code ignored;
    if ((flags & IFF_LOOPBACK) != 0) return device_kind::loopback;
    if (fs::exists(folder / "bridge", ignored)) return device_kind::bridge;
    if (fs::exists(folder / "tun_flags", ignored)) return device_kind::tunnel;
    if (fs::exists(folder / "device", ignored)) return device_kind::hardware;
    // Virtual Ethernet devices (bond, vlan, veth) have the type 1, ARPHRD_ETHER. Other virtual
    // devices are tunnels.
    return read_number(folder / "type", 1) == 1 ? device_kind::stacked : device_kind::tunnel;
}

device describe(const ifaddrs& entry) {
    const fs::path folder = fs::path("/sys/class/net") / entry.ifa_name;
    device made;
    made.name = entry.ifa_name;
    made.index = ::if_nametoindex(entry.ifa_name);
    made.kind = kind_of(folder, entry.ifa_flags);
    made.up = (entry.ifa_flags & IFF_UP) != 0;
    made.carrier = (entry.ifa_flags & IFF_RUNNING) != 0;
    const long megabits = read_number(folder / "speed", -1);
    if (megabits > 0) made.speed = static_cast<double>(megabits) * 1e6 / 8;
    if (const auto known = ucs::topology::net_device::read(made.name))
        made.location = known->location;
    return made;
}

std::uint8_t prefix_of(const sockaddr* mask) {
    if (mask == nullptr) return 0;
    int bits = 0;
    // A named variable, because bytes() refers to it and a temporary would end before the loop.
    const ip_address as_address = ip_address::from(*mask);
    for (const std::byte byte : as_address.bytes())
        bits += std::popcount(std::to_integer<unsigned>(byte));
    return static_cast<std::uint8_t>(bits);
}

void add_address(device& into, const ifaddrs& entry) {
    const ip_address ip = ip_address::from(*entry.ifa_addr);
    if (ip.is_none()) return;
    listen_point& point = ip.family() == AF_INET ? into.v4 : into.v6;
    // A link-local address serves only until a better one is found.
    if (!point.ip.is_none() && (!point.ip.is_link_local() || ip.is_link_local())) return;
    point = {ip, 0, prefix_of(entry.ifa_netmask)};
}

}  // namespace

std::string device::why_unusable(bool use_bridges) const {
    if (!up) return "interface is down";
    if (!carrier) return "interface has no carrier";
    if (v4.ip.is_none() && v6.ip.is_none()) return "has no IPv4 or IPv6 address";
    if (kind == device_kind::bridge && !use_bridges) {
        return "is a bridge, and UCX_TCP_BRIDGE_ENABLE is n";
    }
    return {};
}

std::vector<device> list_devices() {
    ifaddrs* raw = nullptr;
    if (::getifaddrs(&raw) != 0) {
        ucs::log::error(log, "getifaddrs(): {}", error_text(errno));
        return {};
    }
    const std::unique_ptr<ifaddrs, free_list> list(raw);
    std::vector<device> found;
    for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
        auto known = std::find_if(found.begin(), found.end(),
                                  [&](const device& d) { return d.name == entry->ifa_name; });
        if (known == found.end()) known = found.insert(found.end(), describe(*entry));
        if (entry->ifa_addr != nullptr) add_address(*known, *entry);
    }
    return found;
}

device_cost estimate(device_kind kind, double speed) noexcept {
    constexpr double unknown_speed = 10e9 / 8;
    // A tenth is lost to frame and packet headers and to acknowledgements.
    const double wire = (speed > 0 ? speed : unknown_speed) * 0.9;
    switch (kind) {
        case device_kind::loopback:
            return {4e-6, 7e9};
        case device_kind::hardware:
            return {12e-6, wire};
        case device_kind::stacked:
            return {14e-6, wire * 0.95};
        case device_kind::bridge:
            return {25e-6, wire * 0.5};
        case device_kind::tunnel:
            return {40e-6, wire * 0.25};
    }
    return {40e-6, wire * 0.25};
}

}  // namespace uct::tcp
