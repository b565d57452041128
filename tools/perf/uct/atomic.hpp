// Tests of atomic operations on the peer's memory, directly over a transport.
#pragma once

#include "tools/perf/uct/connection.hpp"

namespace tools::perf {

[[nodiscard]] std::unique_ptr<workload> make_add_latency(const transport_connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_add_rate(const transport_connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_fetch_add(const transport_connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_swap(const transport_connection& conn);
[[nodiscard]] std::unique_ptr<workload> make_compare_swap(const transport_connection& conn);

}  // namespace tools::perf
