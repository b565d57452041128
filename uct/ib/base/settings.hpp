// Options of all transports on RDMA devices, UCX_IB_*.
#pragma once

#include "ucs/config/option.hpp"

namespace uct::ib {

// Value type, read once per interface.
struct settings {
    ucs::config::auto_count gid_index;
    ucs::config::auto_count service_level;
    ucs::config::auto_count traffic_class;
    unsigned hop_limit = 0;
    ucs::config::auto_count pkey;
    bool cache = true;
    std::size_t cached_regions = 0;
    ucs::config::memunits cached_bytes;
    ucs::config::ternary on_demand = ucs::config::ternary::no;
    ucs::config::ternary memory_windows = ucs::config::ternary::automatic;
    unsigned event_count = 0;
    ucs::config::duration event_period;
    ucs::config::duration port_down;

    static const ucs::config::table& options();
};

}  // namespace uct::ib
