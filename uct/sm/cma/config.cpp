#include "uct/sm/cma/config.hpp"

namespace uct::cma {

const ucs::config::table& config::options() {
    using ucs::config::between;
    using ucs::config::make_option;
    static const ucs::config::table table{
        "CMA single-copy transport",
        {
            make_option<&config::seg_size>(
                "CMA_SEG_SIZE", "1m",
                "Bytes that one system call copies at most. Longer operations take several.",
                ucs::config::at_least("4k").or_auto()),
            make_option<&config::allow_peers>(
                "CMA_ALLOW_PEERS", "n",
                "Where /proc/sys/kernel/yama/ptrace_scope is 1, let every process of the same "
                "user read and write the memory of this one. That is what the setting is meant to "
                "prevent, so it is off."),
            make_option<&config::latency>("CMA_LAT", "400ns",
                                          "Estimated time of a small copy, mostly the call.",
                                          between("0", "1s")),
            make_option<&config::bandwidth>("CMA_BW", "11g",
                                            "Estimated bytes per second of large copies.",
                                            between("1MBs", "1PBs").or_auto()),
            make_option<&config::overhead>("CMA_OVERHEAD", "400ns",
                                           "Estimated processor time of one operation.",
                                           between("0", "1s")),
        }};
    return table;
}

}  // namespace uct::cma
