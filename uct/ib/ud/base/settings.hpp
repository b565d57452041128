// Options of unreliable datagrams, UCX_UD_VERBS_*.
#pragma once

#include "ucs/config/option.hpp"

namespace uct::ud {

// Value type, read once per interface. Sizes in bytes.
struct settings {
    unsigned tx_queue = 0;
    unsigned tx_min_inline = 0;
    unsigned tx_min_pieces = 0;
    unsigned tx_moderation = 0;
    unsigned tx_window = 0;
    unsigned rx_queue = 0;
    unsigned rx_batch = 0;
    unsigned rx_first = 0;
    ucs::config::memunits path_mtu;
    ucs::config::duration timeout;
    ucs::config::duration least_timer;
    ucs::config::duration most_timer;
    ucs::config::duration linger;
    double test_drop = 0;
    double test_duplicate = 0;
    double test_reorder = 0;
    double test_forget = 0;
    unsigned test_seed = 0;

    static const ucs::config::table& options();
};

}  // namespace uct::ud
