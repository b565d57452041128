#include "tools/perf/ucp/stream.hpp"

#include "tools/common/failure.hpp"
#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/core/supported_options.hpp"
#include "tools/perf/ucp/stream_channel.hpp"

namespace tools::perf {

void check_stream_options(const test_params& params) {
    refuse_unsupported(params, {.receive_modes = true});
    if (params.message_size() == 0) {
        throw usage_error("-s: nothing of an empty message arrives in a stream");
    }
}

std::unique_ptr<workload> make_stream_latency(const connection& conn) {
    return make_ping_pong<stream_channel>(conn);
}

std::unique_ptr<workload> make_stream_bandwidth(const connection& conn) {
    return make_one_way<stream_channel>(conn);
}

}  // namespace tools::perf
