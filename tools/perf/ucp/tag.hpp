// The tests of the tag matching functions.
#pragma once

#include "tools/perf/core/workload.hpp"

namespace tools::perf {

void check_tag_options(const test_params& params);

[[nodiscard]] std::unique_ptr<workload> make_tag_latency(const connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_tag_bandwidth(const connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_tag_sync_latency(const connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_tag_sync_bandwidth(const connection& conn);

}  // namespace tools::perf
