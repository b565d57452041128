// Options of the cuda_ipc transport.
#pragma once

#include "ucs/config/option.hpp"

namespace uct::cuda {

// The values of UCX_CUDA_IPC_*. Plain value, read once per interface and domain.
struct ipc_settings {
    std::size_t max_events = 0;
    unsigned max_poll = 0;
    unsigned max_streams = 0;
    bool cache = true;
    std::size_t cache_max_regions = 0;
    ucs::config::ternary enable_get_zcopy = ucs::config::ternary::automatic;
    ucs::config::rate bandwidth;
    ucs::config::duration latency;
    ucs::config::duration overhead;

    static constexpr double default_bandwidth = 100e9;

    [[nodiscard]] static const ucs::config::table& options();
};

}  // namespace uct::cuda
