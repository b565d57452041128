// Which entry of a port's GID table a process uses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ucs/net/route.hpp"
#include "uct/ib/base/verbs_library.hpp"

namespace uct::ib {

enum class gid_type : std::uint8_t { infiniband, roce_v1, roce_v2 };
[[nodiscard]] const char* name(gid_type type) noexcept;

using raw_gid = std::array<std::uint8_t, 16>;

// One entry. Value type.
struct gid_entry {
    raw_gid gid{};
    std::uint32_t index = 0;
    std::uint32_t interface_index = 0;  // of the network interface below it; 0: none
    gid_type type = gid_type::infiniband;
    bool is_here = true;  // its address is one of this network namespace, as far as known

    [[nodiscard]] bool empty() const noexcept { return gid == raw_gid{}; }
    [[nodiscard]] bool is_ipv4() const noexcept;  // ::ffff:a.b.c.d
    [[nodiscard]] bool is_link_local() const noexcept;
    // That of the network interface below it; for RoCE.
    [[nodiscard]] ucs::net::ip_address address() const noexcept;
    [[nodiscard]] std::string text() const;
};

// The entries of one port, as the device says. Empty where it says nothing.
[[nodiscard]] std::vector<gid_entry> read_gids(ibv_context& device, std::uint8_t port,
                                               bool ethernet);

// Finds out which entries are addresses of this network namespace: devices that containers share
// list those of all of them, and only its own can be sent from.
void find_own(std::span<gid_entry> among, ucs::net::route_source& routes);

// The best one: of this network namespace before others, routable before not routable (RoCE v2
// before v1), an address of a network before one of the link, IPv4 before IPv6, and then the first.
// Nothing where there is none. Pure.
[[nodiscard]] std::optional<gid_entry> choose_gid(std::span<const gid_entry> among) noexcept;

}  // namespace uct::ib
