#include "tools/perf/ucp/am.hpp"

#include "tools/perf/core/fitting.hpp"
#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/ucp/am_channel.hpp"

namespace tools::perf {

void check_am_options(const test_params& params) {
    refuse_others(params, {.header = true, .extra_copy = true, .receive_modes = true});
}

std::unique_ptr<workload> make_am_latency(const connection& on) {
    return make_ping_pong<am_channel>(on);
}

std::unique_ptr<workload> make_am_bandwidth(const connection& on) {
    return make_one_way<am_channel>(on);
}

}  // namespace tools::perf
