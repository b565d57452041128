// Options of the cuda_copy transport.
#pragma once

#include "ucs/config/option.hpp"
#include "uct/cuda/copy/directed_rates.hpp"

namespace uct::cuda {

// The values of UCX_CUDA_COPY_*. Plain value, read once per interface.
struct copy_settings {
    std::size_t max_events = 0;
    unsigned max_poll = 0;
    directed_rates bandwidth;
    ucs::config::duration latency;
    ucs::config::duration overhead;

    [[nodiscard]] static const ucs::config::table& options();
};

}  // namespace uct::cuda
