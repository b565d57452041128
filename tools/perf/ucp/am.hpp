// The tests of active messages.
#pragma once

#include "tools/perf/core/workload.hpp"

namespace tools::perf {

void check_am_options(const test_params& params);

[[nodiscard]] std::unique_ptr<workload> make_am_latency(const connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_am_bandwidth(const connection& conn);

}  // namespace tools::perf
