#include "uct/cuda/copy/settings.hpp"

namespace uct::cuda {

const ucs::config::table& copy_settings::options() {
    using ucs::config::at_least;
    using ucs::config::between;
    using ucs::config::make_option;
    static const ucs::config::table table{
        "CUDA copy transport",
        {
            make_option<&copy_settings::max_events>(
                "CUDA_COPY_MAX_EVENTS", "1024",
                "Copies of one worker that may be in flight at the same time. Further ones wait.",
                at_least("1").or_inf()),
            make_option<&copy_settings::max_poll>(
                "CUDA_COPY_MAX_POLL", "16",
                "Completed copies of one stream that one call of progress takes at most.",
                between("1", "4096")),
            make_option<&copy_settings::bandwidth>(
                "CUDA_COPY_BW", "default:10GBs,h2d:22GBs,d2h:22GBs,d2d:600GBs",
                "Estimated bytes per second of large copies: from host to device (h2d), from "
                "device to host (d2h), between memory of devices (d2d), and all others (default)."),
            make_option<&copy_settings::latency>(
                "CUDA_COPY_LAT", "8us", "Estimated time of a small copy.", between("0", "1s")),
            make_option<&copy_settings::overhead>(
                "CUDA_COPY_OVERHEAD", "1.5us",
                "Estimated processor time of starting one copy and finding its end.",
                between("0", "1s")),
        }};
    return table;
}

}  // namespace uct::cuda
