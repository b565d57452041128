// Options of reliable connections, UCX_RC_VERBS_*, also UCX_RC_*.
#pragma once

#include "ucs/config/option.hpp"

namespace uct::rc {

// Value type, read once per interface. Sizes in bytes.
struct settings {
    ucs::config::memunits segment;
    unsigned tx_queue = 0;
    unsigned tx_min_inline = 0;
    unsigned tx_min_pieces = 0;
    unsigned tx_moderation = 0;
    unsigned tx_completions = 0;
    unsigned rx_queue = 0;
    unsigned rx_batch = 0;
    unsigned rx_first = 0;
    ucs::config::memunits path_mtu;
    ucs::config::auto_count read_depth;
    ucs::config::duration timeout;
    unsigned retry_count = 0;
    ucs::config::duration rnr_timeout;
    unsigned rnr_retry_count = 0;
    bool flow_control = true;
    unsigned flow_window = 0;
    double flow_soft = 0;
    double flow_hard = 0;
    ucs::config::duration linger;
    unsigned connections_at_hand = 0;

    static const ucs::config::table& options();
};

}  // namespace uct::rc
