// Options of the cma transport.
#pragma once

#include "ucs/config/option.hpp"
#include "ucs/config/source.hpp"

namespace uct::cma {

// The values of UCX_CMA_*. Plain value, read once per interface.
struct config {
    static constexpr std::size_t default_segment = std::size_t{1} << 20;
    static constexpr double default_bandwidth = 11.0 * (std::size_t{1} << 30);

    ucs::config::memunits seg_size;
    bool allow_peers = false;
    ucs::config::duration latency;
    ucs::config::rate bandwidth;
    ucs::config::duration overhead;

    [[nodiscard]] static const ucs::config::table& options();
};

}  // namespace uct::cma
