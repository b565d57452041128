#include "tools/perf/ucp/tag.hpp"

#include "tools/perf/core/fitting.hpp"
#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/ucp/tag_channel.hpp"

namespace tools::perf {

void check_tag_options(const test_params& params) {
    refuse_others(params, {.matching = true});
}

std::unique_ptr<workload> make_tag_latency(const connection& on) {
    return make_ping_pong<tag_channel>(on, tag_send::standard);
}

std::unique_ptr<workload> make_tag_bandwidth(const connection& on) {
    return make_one_way<tag_channel>(on, tag_send::standard);
}

std::unique_ptr<workload> make_tag_sync_latency(const connection& on) {
    return make_ping_pong<tag_channel>(on, tag_send::sync);
}

std::unique_ptr<workload> make_tag_sync_bandwidth(const connection& on) {
    return make_one_way<tag_channel>(on, tag_send::sync);
}

}  // namespace tools::perf
