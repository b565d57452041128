// The tests of byte streams.
#pragma once

#include "tools/perf/core/workload.hpp"

namespace tools::perf {

void check_stream_options(const test_params& params);

[[nodiscard]] std::unique_ptr<workload> make_stream_latency(const connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_stream_bandwidth(const connection& conn);

}  // namespace tools::perf
