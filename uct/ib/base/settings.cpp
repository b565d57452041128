#include "uct/ib/base/settings.hpp"

namespace uct::ib {

const ucs::config::table& settings::options() {
    using ucs::config::at_least;
    using ucs::config::between;
    using ucs::config::make_option;
    static const ucs::config::table table{
        "RDMA devices",
        {
            make_option<&settings::gid_index>("IB_GID_INDEX", "auto",
                                              "Entry of the port's GID table to send from. auto "
                                              "takes one of this network namespace "
                                              "that reaches farthest: RoCE v2 before v1, an "
                                              "address of a network before one of the "
                                              "link only.",
                                              between("0", "255").or_auto()),
            make_option<&settings::service_level>("IB_SL", "auto",
                                                  "Service level of sent packets; auto is 0.",
                                                  between("0", "15").or_auto()),
            make_option<&settings::traffic_class>(
                "IB_TRAFFIC_CLASS", "auto",
                "Traffic class (on RoCE: differentiated services) of sent packets; auto is 106 on "
                "RoCE v2, which switches commonly treat as lossless, and 0 elsewhere.",
                between("0", "255").or_auto()),
            make_option<&settings::hop_limit>(
                "IB_HOP_LIMIT", "255", "How many routers a packet may pass.", between("0", "255")),
            make_option<&settings::pkey>(
                "IB_PKEY", "auto",
                "Partition to be in, 15 bits. auto takes the first one of the port that is a full "
                "member.",
                between("0", "65535").or_auto()),
            make_option<&settings::cache>(
                "IB_RCACHE_ENABLE", "y",
                "Keep memory registered after an operation, for the next one on it. Without that "
                "each operation registers its memory anew."),
            make_option<&settings::cached_regions>(
                "IB_RCACHE_MAX_REGIONS", "inf",
                "How many pieces of memory are kept registered; those in use may be more.",
                at_least("0").or_inf()),
            make_option<&settings::cached_bytes>(
                "IB_RCACHE_MAX_SIZE", "inf",
                "How much memory is kept registered; the memory in use may be more.",
                at_least("0").or_inf()),
            make_option<&settings::on_demand>(
                "IB_ODP", "n",
                "Let the device fetch pages of a program's memory when it needs them (on-demand "
                "paging) instead of pinning them with a registration: registering takes no time "
                "and no locked memory, but the first access to each page takes longer. try and "
                "auto: "
                "if the device can."),
            make_option<&settings::memory_windows>(
                "IB_MEMORY_WINDOWS", "auto",
                "Give a peer access to the memory of a long message by a memory window on memory "
                "that is kept registered. Otherwise the bytes are registered for each message. "
                "auto, or try: if the device has windows, except devices of the kernel (rxe), "
                "which do not check their bounds."),
            make_option<&settings::event_count>(
                "IB_CQ_EVENT_COUNT", "1",
                "Completions that the device gathers before it wakes a program that sleeps, unless "
                "IB_CQ_EVENT_PERIOD is over; fewer interrupts, later wakeups. Programs that poll "
                "are not concerned.",
                between("1", "65535").or_limited()),
            make_option<&settings::event_period>(
                "IB_CQ_EVENT_PERIOD", "100us", "How long the device waits for so many completions.",
                between("1us", "65535us").or_limited()),
            make_option<&settings::port_down>(
                "IB_PORT_DOWN_TIMEOUT", "10s",
                "How long a port may be down before everything that is connected over it fails. "
                "inf: never; then retries decide, and an endpoint that only receives notices "
                "nothing.",
                at_least("0").or_inf()),
        },
    };
    return table;
}

}  // namespace uct::ib
