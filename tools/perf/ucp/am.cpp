#include "tools/perf/ucp/am.hpp"

#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/core/supported_options.hpp"
#include "tools/perf/ucp/am_channel.hpp"

namespace tools::perf {

void check_am_options(const test_params& params) {
    refuse_unsupported(params, {.header = true, .extra_copy = true, .receive_modes = true});
}

std::unique_ptr<workload> make_am_latency(const connection& conn) {
    return make_ping_pong<am_channel>(conn);
}

std::unique_ptr<workload> make_am_bandwidth(const connection& conn) {
    return make_one_way<am_channel>(conn);
}

}  // namespace tools::perf
