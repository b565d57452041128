// Options of the posix transport.
#pragma once

#include "ucs/config/option.hpp"
#include "ucs/config/source.hpp"
#include "uct/sm/posix/ring_layout.hpp"

namespace uct::posix {

// The values of UCX_POSIX_*. Plain value, read once per interface.
struct config {
    unsigned fifo_size = 0;
    ucs::config::memunits seg_size;
    ucs::config::memunits bulk_size;
    unsigned max_poll = 0;
    ucs::config::duration latency;
    ucs::config::rate bandwidth;
    ucs::config::duration overhead;
    ucs::config::duration linger;

    [[nodiscard]] static const ucs::config::table& options();

    // Returns the geometry of the rings for these options.
    [[nodiscard]] ring_geometry geometry() const noexcept;
};

}  // namespace uct::posix
