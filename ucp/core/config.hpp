// Options of the protocol layer.
#pragma once

#include <algorithm>
#include <string>

#include "ucp/core/keyed_size.hpp"
#include "ucp/core/sockaddr_transports.hpp"
#include "ucs/config/option.hpp"

namespace ucp {

enum class rndv_scheme : std::uint8_t { automatic, get_zcopy, put_zcopy, put_ppln, am };
[[nodiscard]] constexpr bool wants_writing(rndv_scheme scheme) noexcept {
    return scheme == rndv_scheme::put_zcopy || scheme == rndv_scheme::put_ppln;
}

enum class protocol_pages : std::uint8_t { none, all };

struct config {
    ucs::config::allow_list transports;
    ucs::config::allow_list devices;
    reach_size rndv_threshold;
    ucs::config::memunits bcopy_threshold;
    ucs::config::memunits zcopy_threshold;
    rndv_scheme scheme = rndv_scheme::automatic;
    host_size fragment;
    host_size fragment_count;
    protocol_pages proto_info = protocol_pages::none;
    unsigned rndv_rails = 1;
    unsigned rma_rails = 1;
    ucs::config::memunits rail_chunk;
    bool probe_host = true;
    unsigned poll_slow_every = 0;
    ucs::config::memunits stream_window;
    ucs::config::memunits unexpected_window;
    ucs::config::memunits unexpected_limit;
    ucs::config::memunits unexpected_hard_limit;
    unsigned unexpected_announcements = 0;
    ucs::config::duration cm_timeout;
    cm::transport_list cm_transports;
    ucs::config::duration keepalive_interval;
    unsigned keepalive_peers = 0;

    // The most rails to one peer. An RTS has room for the keys of so many devices.
    [[nodiscard]] std::size_t rails() const noexcept {
        return std::min(4U, std::max(rndv_rails, rma_rails));
    }

    static const ucs::config::table& options();
};

}  // namespace ucp
