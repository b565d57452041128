#include "uct/cuda/ipc/settings.hpp"

namespace uct::cuda {

const ucs::config::table& ipc_settings::options() {
    using ucs::config::at_least;
    using ucs::config::between;
    using ucs::config::make_option;
    static const ucs::config::table table{
        "CUDA IPC transport",
        {
            make_option<&ipc_settings::max_events>(
                "CUDA_IPC_MAX_EVENTS", "1024",
                "Copies of one worker that may be in flight at the same time. Further ones wait.",
                at_least("1").or_inf()),
            make_option<&ipc_settings::max_poll>(
                "CUDA_IPC_MAX_POLL", "16",
                "Completed copies of one stream that one call of progress takes at most.",
                between("1", "4096")),
            make_option<&ipc_settings::max_streams>(
                "CUDA_IPC_MAX_STREAMS", "16",
                "Streams of a worker in each context. Copies to and from different devices run at "
                "the same time, as far as there are streams.",
                between("1", "16").or_limited()),
            make_option<&ipc_settings::cache>(
                "CUDA_IPC_CACHE", "y",
                "Keep memory of peers mapped after its last use, because mapping it takes long."),
            make_option<&ipc_settings::cache_max_regions>(
                "CUDA_IPC_CACHE_MAX_REGIONS", "1024",
                "Allocations of peers that are kept mapped at most. The ones that were not used "
                "for "
                "the longest time are unmapped first.",
                at_least("0").or_inf()),
            make_option<&ipc_settings::enable_get_zcopy>(
                "CUDA_IPC_ENABLE_GET_ZCOPY", "auto",
                "Read the memory of peers. With n, it is written only. auto means y."),
            make_option<&ipc_settings::bandwidth>(
                "CUDA_IPC_BW", "auto",
                "Estimated bytes per second of large copies between devices.",
                between("1MBs", "1PBs").or_auto()),
            make_option<&ipc_settings::latency>(
                "CUDA_IPC_LAT", "7us", "Estimated time of a small copy.", between("0", "1s")),
            make_option<&ipc_settings::overhead>(
                "CUDA_IPC_OVERHEAD", "1.5us",
                "Estimated processor time of starting one copy and finding its end.",
                between("0", "1s")),
        }};
    return table;
}

}  // namespace uct::cuda
