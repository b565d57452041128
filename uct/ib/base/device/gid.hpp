// GID table of a port, and the choice of an entry.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ucs/net/route.hpp"
#include "uct/ib/base/device/verbs_library.hpp"

namespace uct::ib {

enum class gid_type : std::uint8_t { infiniband, roce_v1, roce_v2 };
[[nodiscard]] const char* name(gid_type type) noexcept;

using raw_gid = std::array<std::uint8_t, 16>;

// One entry. Value type.
struct gid_entry {
    raw_gid gid{};
    std::uint32_t index = 0;
    std::uint32_t interface_index = 0;  // of the network interface below the port; 0: none
    gid_type type = gid_type::infiniband;
    bool is_local = true;  // its address belongs to this network namespace, as far as known

    [[nodiscard]] bool empty() const noexcept { return gid == raw_gid{}; }
    [[nodiscard]] bool is_ipv4() const noexcept;  // ::ffff:a.b.c.d
    [[nodiscard]] bool is_link_local() const noexcept;
    // The address of the network interface below the port; for RoCE.
    [[nodiscard]] ucs::net::ip_address address() const noexcept;
    [[nodiscard]] std::string text() const;
};

// Returns the entries of one port as the device reports them. Empty if it reports none.
[[nodiscard]] std::vector<gid_entry> read_gids(ibv_context& device, std::uint8_t port,
                                               bool ethernet);

// Finds out which entries are addresses of this network namespace. Devices that containers share
// list the entries of all containers, and a process can send only from its own.
void find_own(std::span<gid_entry> entries, ucs::net::route_source& routes);

// Returns the best entry: first those of this network namespace, then routable ones (RoCE v2 before
// v1), then network addresses before link-local ones, IPv4 before IPv6, and then the first. Returns
// nothing if there is none. Pure.
[[nodiscard]] std::optional<gid_entry> choose_gid(std::span<const gid_entry> entries) noexcept;

}  // namespace uct::ib
