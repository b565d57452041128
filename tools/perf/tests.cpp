// The list of tests. A new test of messages is one row here.
#include "tools/perf/uct/tests.hpp"

#include "tools/common/text.hpp"
#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/core/test_options.hpp"
#include "tools/perf/ucp/am_channel.hpp"
#include "tools/perf/ucp/stream_channel.hpp"
#include "tools/perf/ucp/tag_channel.hpp"

namespace tools::perf {
namespace {

void check_tag(const test_params& params) {
    refuse_unsupported(params, {.matching = true});
}

void check_am(const test_params& params) {
    refuse_unsupported(params, {.header = true, .extra_copy = true, .receive_modes = true});
}

void check_stream(const test_params& params) {
    refuse_unsupported(params, {.receive_modes = true});
    if (params.message_size() == 0) {
        throw usage_error("-s: nothing of an empty message arrives in a stream");
    }
}

std::span<const test_row> message_tests() noexcept {
    static constexpr std::array<test_row, 8> rows{{
        {"tag_lat", "tag match latency", quantity::latency, UCP_FEATURE_TAG,
         &make_ping_pong<tag_channel, tag_send::standard>, &check_tag},
        {"tag_bw", "tag match bandwidth", quantity::bandwidth, UCP_FEATURE_TAG,
         &make_one_way<tag_channel, tag_send::standard>, &check_tag},
        {"tag_sync_lat", "tag sync match latency", quantity::latency, UCP_FEATURE_TAG,
         &make_ping_pong<tag_channel, tag_send::sync>, &check_tag},
        {"tag_sync_bw", "tag sync match bandwidth", quantity::bandwidth, UCP_FEATURE_TAG,
         &make_one_way<tag_channel, tag_send::sync>, &check_tag},
        {"ucp_am_lat", "am latency", quantity::latency, UCP_FEATURE_AM, &make_ping_pong<am_channel>,
         &check_am},
        {"ucp_am_bw", "am bandwidth / message rate", quantity::bandwidth, UCP_FEATURE_AM,
         &make_one_way<am_channel>, &check_am},
        {"stream_lat", "stream latency", quantity::latency, UCP_FEATURE_STREAM,
         &make_ping_pong<stream_channel>, &check_stream},
        {"stream_bw", "stream bandwidth", quantity::bandwidth, UCP_FEATURE_STREAM,
         &make_one_way<stream_channel>, &check_stream},
    }};
    return rows;
}

}  // namespace

std::span<const test_row> all_tests() {
    static const std::vector<test_row> rows = [] {
        std::vector<test_row> all;
        for (const auto& some : {message_tests(), remote_memory_tests(), transport_message_tests(),
                                 transport_memory_tests(), transport_atomic_tests()})
            all.insert(all.end(), some.begin(), some.end());
        return all;
    }();
    return rows;
}

const test_row& find_test(std::string_view name) {
    std::vector<std::string_view> names;
    for (const test_row& row : all_tests()) {
        if (row.name == name) return row;
        names.push_back(row.name);
    }
    throw usage_error(fmt::format("-t: {}", none_of(name, names)));
}

}  // namespace tools::perf
