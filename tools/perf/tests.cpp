// The list of tests. A new test is one file beside tag.cpp, and one row here.
#include <fmt/format.h>

#include <array>

#include "tools/common/failure.hpp"
#include "tools/perf/core/workload.hpp"
#include "tools/perf/ucp/tag.hpp"

namespace tools::perf {

std::span<const test_row> all_tests() noexcept {
    static constexpr std::array<test_row, 4> rows{{
        {"tag_lat", "tag match latency", quantity::latency, UCP_FEATURE_TAG, &make_tag_latency,
         &check_tag_options},
        {"tag_bw", "tag match bandwidth", quantity::bandwidth, UCP_FEATURE_TAG, &make_tag_bandwidth,
         &check_tag_options},
        {"tag_sync_lat", "tag sync match latency", quantity::latency, UCP_FEATURE_TAG,
         &make_tag_sync_latency, &check_tag_options},
        {"tag_sync_bw", "tag sync match bandwidth", quantity::bandwidth, UCP_FEATURE_TAG,
         &make_tag_sync_bandwidth, &check_tag_options},
    }};
    return rows;
}

const test_row& find_test(std::string_view name) {
    std::string names;
    for (const test_row& row : all_tests()) {
        if (row.name == name) return row;
        names += names.empty() ? "" : ", ";
        names += row.name;
    }
    throw usage_error(fmt::format("-t: \"{}\" is none of: {}", name, names));
}

}  // namespace tools::perf
