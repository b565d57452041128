// Tests of access to the peer's memory, directly over a transport.
#pragma once

#include "tools/perf/uct/connection.hpp"

namespace tools::perf {

[[nodiscard]] std::unique_ptr<workload> make_put_latency(const transport_connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_put_bandwidth(const transport_connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_get(const transport_connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_get_bandwidth(const transport_connection& conn);

}  // namespace tools::perf
