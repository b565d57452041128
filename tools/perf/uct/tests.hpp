// The functions of transport tests for the list of tests.
#pragma once

#include "tools/perf/uct/connection.hpp"

namespace tools::perf {

// Each throws usage_error for unsupported options, and not_offered for features that this machine
// or the transport does not have.
void check_transport_messages(const test_params& params);
void check_transport_put(const test_params& params);
void check_transport_get(const test_params& params);
void check_transport_post(const test_params& params);
void check_transport_fetch_add(const test_params& params);
void check_transport_swap(const test_params& params);
void check_transport_compare_swap(const test_params& params);

[[nodiscard]] std::unique_ptr<workload> make_transport_am_latency(const transport_connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_transport_am_bandwidth(
    const transport_connection& conn);

// Returns the name of the layout for the output, as in -D: "short".
[[nodiscard]] std::string layout_name(const test_params& params);

}  // namespace tools::perf
