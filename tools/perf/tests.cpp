// The list of tests. A new test is one file beside tag.cpp, and one row here.
#include "tools/perf/uct/tests.hpp"

#include <fmt/format.h>

#include "tools/common/nearest.hpp"
#include "tools/perf/ucp/am.hpp"
#include "tools/perf/ucp/rma.hpp"
#include "tools/perf/ucp/stream.hpp"
#include "tools/perf/ucp/tag.hpp"
#include "tools/perf/uct/atomic.hpp"
#include "tools/perf/uct/memory_access.hpp"

namespace tools::perf {

std::span<const test_row> all_tests() noexcept {
    // These tests also need tagged messages, which carry the keys.
    constexpr std::uint64_t rma = UCP_FEATURE_RMA | UCP_FEATURE_TAG;
    constexpr std::uint64_t amo = UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_TAG;
    static constexpr std::array<test_row, 26> rows{{
        {"tag_lat", "tag match latency", quantity::latency, UCP_FEATURE_TAG, &make_tag_latency,
         &check_tag_options},
        {"tag_bw", "tag match bandwidth", quantity::bandwidth, UCP_FEATURE_TAG, &make_tag_bandwidth,
         &check_tag_options},
        {"tag_sync_lat", "tag sync match latency", quantity::latency, UCP_FEATURE_TAG,
         &make_tag_sync_latency, &check_tag_options},
        {"tag_sync_bw", "tag sync match bandwidth", quantity::bandwidth, UCP_FEATURE_TAG,
         &make_tag_sync_bandwidth, &check_tag_options},
        {"ucp_am_lat", "am latency", quantity::latency, UCP_FEATURE_AM, &make_am_latency,
         &check_am_options},
        {"ucp_am_bw", "am bandwidth / message rate", quantity::bandwidth, UCP_FEATURE_AM,
         &make_am_bandwidth, &check_am_options},
        {"stream_lat", "stream latency", quantity::latency, UCP_FEATURE_STREAM,
         &make_stream_latency, &check_stream_options},
        {"stream_bw", "stream bandwidth", quantity::bandwidth, UCP_FEATURE_STREAM,
         &make_stream_bandwidth, &check_stream_options},
        {"ucp_put_lat", "put latency", quantity::latency, rma, &make_put_latency,
         &check_rma_options},
        {"ucp_put_bw", "put bandwidth", quantity::bandwidth, rma, &make_put_bandwidth,
         &check_rma_options},
        {"ucp_get", "get latency / bandwidth / message rate", quantity::operation, rma, &make_get,
         &check_rma_options},
        {"ucp_add", "atomic add bandwidth / message rate", quantity::bandwidth, amo,
         &make_atomic_add, &check_atomic_options},
        {"ucp_fadd", "atomic fetch-and-add latency / rate", quantity::operation, amo,
         &make_atomic_fetch_add, &check_atomic_options},
        {"ucp_swap", "atomic swap latency / rate", quantity::operation, amo, &make_atomic_swap,
         &check_atomic_options},
        {"ucp_cswap", "atomic compare-and-swap latency / rate", quantity::operation, amo,
         &make_atomic_compare_swap, &check_atomic_options},
        {"am_lat", "active message latency", quantity::latency, 0, nullptr,
         &check_transport_messages, &make_transport_am_latency},
        {"am_bw", "active message bandwidth / message rate", quantity::bandwidth, 0, nullptr,
         &check_transport_messages, &make_transport_am_bandwidth},
        {"put_lat", "put latency", quantity::latency, 0, nullptr, &check_transport_put,
         &make_put_latency},
        {"put_bw", "put bandwidth / message rate", quantity::bandwidth, 0, nullptr,
         &check_transport_put, &make_put_bandwidth},
        {"get", "get latency / bandwidth / message rate", quantity::operation, 0, nullptr,
         &check_transport_get, &make_get},
        {"get_bw", "get bandwidth / message rate", quantity::bandwidth, 0, nullptr,
         &check_transport_get, &make_get_bandwidth},
        {"add_lat", "atomic add latency", quantity::latency, 0, nullptr, &check_transport_post,
         &make_add_latency, true},
        {"add_mr", "atomic add message rate", quantity::bandwidth, 0, nullptr,
         &check_transport_post, &make_add_rate, true},
        {"fadd", "atomic fetch-and-add latency / rate", quantity::operation, 0, nullptr,
         &check_transport_fetch_add, &make_fetch_add, true},
        {"swap", "atomic swap latency / rate", quantity::operation, 0, nullptr,
         &check_transport_swap, &make_swap, true},
        {"cswap", "atomic compare-and-swap latency / rate", quantity::operation, 0, nullptr,
         &check_transport_compare_swap, &make_compare_swap, true},
    }};
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
