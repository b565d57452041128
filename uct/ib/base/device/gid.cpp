#include "uct/ib/base/device/gid.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace uct::ib {
namespace {

constexpr std::array<std::uint8_t, 12> ipv4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

gid_type type_of(std::uint32_t code) noexcept {
    switch (code) {
        case IBV_GID_TYPE_ROCE_V1:
            return gid_type::roce_v1;
        case IBV_GID_TYPE_ROCE_V2:
            return gid_type::roce_v2;
        default:
            return gid_type::infiniband;
    }
}

// A higher rank is better.
auto rank(const gid_entry& entry) noexcept {
    return std::make_tuple(entry.is_local, entry.type, !entry.is_link_local(), entry.is_ipv4());
}

}  // namespace

const char* name(gid_type type) noexcept {
    switch (type) {
        case gid_type::roce_v1:
            return "RoCE v1";
        case gid_type::roce_v2:
            return "RoCE v2";
        case gid_type::infiniband:
            break;
    }
    return "InfiniBand";
}

bool gid_entry::is_ipv4() const noexcept {
    return std::equal(ipv4_prefix.begin(), ipv4_prefix.end(), gid.begin());
}

bool gid_entry::is_link_local() const noexcept {
    return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

ucs::net::ip_address gid_entry::address() const noexcept {
    const auto bytes = std::as_bytes(std::span(gid));
    if (is_ipv4()) return ucs::net::ip_address::v4(bytes.last<4>());
    return ucs::net::ip_address::v6(bytes, interface_index);
}

std::string gid_entry::text() const {
    char buffer[INET6_ADDRSTRLEN];
    const char* made = is_ipv4() ? ::inet_ntop(AF_INET, &gid[12], buffer, sizeof buffer)
                                 : ::inet_ntop(AF_INET6, gid.data(), buffer, sizeof buffer);
    return made == nullptr ? std::string() : made;
}

std::vector<gid_entry> read_gids(ibv_context& device, std::uint8_t port, bool ethernet) {
    constexpr std::size_t most = 1024;
    std::vector<ibv_gid_entry> table(most);
    const ssize_t count = ibv_query_gid_table(&device, table.data(), table.size(), 0);
    std::vector<gid_entry> found;
    for (ssize_t i = 0; i < count; ++i) {
        const ibv_gid_entry& each = table[static_cast<std::size_t>(i)];
        // Address vectors have 8 bits for the index of an entry.
        if (each.port_num != port || each.gid_index > 255) continue;
        gid_entry entry;
        std::memcpy(entry.gid.data(), each.gid.raw, entry.gid.size());
        entry.index = each.gid_index;
        entry.interface_index = each.ndev_ifindex;
        entry.type = type_of(each.gid_type);
        // Old kernels report every entry of an Ethernet port as InfiniBand.
        if (ethernet && entry.type == gid_type::infiniband) entry.type = gid_type::roce_v1;
        found.push_back(entry);
    }
    return found;
}

void find_own(std::span<gid_entry> entries, ucs::net::route_source& routes) {
    using kind = ucs::net::route::kind;
    for (gid_entry& each : entries) {
        if (each.empty()) continue;
        const kind found = routes.find({}, each.address(), each.interface_index).type;
        each.is_local = found == kind::local || found == kind::unknown;
    }
}

std::optional<gid_entry> choose_gid(std::span<const gid_entry> entries) noexcept {
    const gid_entry* best = nullptr;
    for (const gid_entry& each : entries) {
        if (each.empty()) continue;
        if (best == nullptr || rank(each) > rank(*best)) best = &each;
    }
    if (best == nullptr) return std::nullopt;
    return *best;
}

}  // namespace uct::ib
