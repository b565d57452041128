// Options of the protocol layer.
#pragma once

#include <string>

#include "ucs/config/option.hpp"

namespace ucp {

enum class rndv_scheme : std::uint8_t { automatic, get_zcopy, am };

struct config {
    ucs::config::allow_list transports;
    ucs::config::allow_list devices;
    ucs::config::memunits rndv_threshold;
    ucs::config::memunits bcopy_threshold;
    ucs::config::memunits zcopy_threshold;
    rndv_scheme scheme = rndv_scheme::automatic;
    ucs::config::memunits fragment;
    bool proto_info = false;
    bool probe_host = true;
    unsigned poll_slow_every = 0;

    static const ucs::config::table& options();
};

}  // namespace ucp
