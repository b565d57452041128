// The tests of a transport, as rows of the list of tests know them.
#pragma once

#include <memory>
#include <string>

#include "tools/perf/uct/connection.hpp"

namespace tools::perf {

// Each throws usage_error for options that do not fit, not_offered for what is not on this machine
// or more than the transport does.
void check_transport_messages(const test_params& params);
void check_transport_put(const test_params& params);
void check_transport_get(const test_params& params);
void check_transport_post(const test_params& params);
void check_transport_fetch_add(const test_params& params);
void check_transport_swap(const test_params& params);
void check_transport_compare_swap(const test_params& params);

[[nodiscard]] std::unique_ptr<workload> make_transport_am_latency(const transport_connection& on);
[[nodiscard]] std::unique_ptr<workload> make_transport_am_bandwidth(const transport_connection& on);

// For people: "short", as -D has it.
[[nodiscard]] std::string layout_name(const test_params& params);

}  // namespace tools::perf
