// Options of the tcp transport, UCX_TCP_*.
#pragma once

#include "ucs/config/option.hpp"

namespace uct::tcp {

// Ports on which the interface may listen; 0-0 leaves the choice to the kernel.
struct port_range {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
};

// AF_INET, AF_INET6 or both, the preferred one first.
struct address_families {
    std::vector<int> order;
};

// Value type, read once per interface. Sizes in bytes.
struct settings {
    ucs::config::memunits tx_segment;
    ucs::config::memunits rx_segment;
    ucs::config::memunits max_zcopy;
    std::size_t max_pieces = 0;
    ucs::config::memunits send_buffer;
    ucs::config::memunits receive_buffer;
    bool no_delay = true;
    bool bind_source = true;
    bool use_bridges = true;
    port_range ports;
    address_families families;
    unsigned max_connect_attempts = 0;
    ucs::config::auto_count syn_count;
    unsigned max_poll = 0;
    ucs::config::duration connect_timeout;
    ucs::config::duration greeting_timeout;
    ucs::config::duration linger;
    ucs::config::duration keep_idle;
    ucs::config::duration keep_interval;
    ucs::config::auto_count keep_count;

    static const ucs::config::table& options();
};

}  // namespace uct::tcp

namespace ucs::config {
template<>
const value_type& value_type_of<uct::tcp::port_range>();
template<>
const value_type& value_type_of<uct::tcp::address_families>();
}  // namespace ucs::config
