#include "tools/perf/ucp/tag.hpp"

#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/core/supported_options.hpp"
#include "tools/perf/ucp/tag_channel.hpp"

namespace tools::perf {

void check_tag_options(const test_params& params) {
    refuse_unsupported(params, {.matching = true});
}

std::unique_ptr<workload> make_tag_latency(const connection& conn) {
    return make_ping_pong<tag_channel>(conn, tag_send::standard);
}

std::unique_ptr<workload> make_tag_bandwidth(const connection& conn) {
    return make_one_way<tag_channel>(conn, tag_send::standard);
}

std::unique_ptr<workload> make_tag_sync_latency(const connection& conn) {
    return make_ping_pong<tag_channel>(conn, tag_send::sync);
}

std::unique_ptr<workload> make_tag_sync_bandwidth(const connection& conn) {
    return make_one_way<tag_channel>(conn, tag_send::sync);
}

}  // namespace tools::perf
