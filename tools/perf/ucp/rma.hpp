// Tests of put, get and atomic operations.
#pragma once

#include "tools/perf/core/workload.hpp"

namespace tools::perf {

void check_rma_options(const test_params& params);
void check_atomic_options(const test_params& params);

std::unique_ptr<workload> make_put_latency(const connection& conn);
std::unique_ptr<workload> make_put_bandwidth(const connection& conn);
std::unique_ptr<workload> make_get(const connection& conn);
std::unique_ptr<workload> make_atomic_add(const connection& conn);
std::unique_ptr<workload> make_atomic_fetch_add(const connection& conn);
std::unique_ptr<workload> make_atomic_swap(const connection& conn);
std::unique_ptr<workload> make_atomic_compare_swap(const connection& conn);

}  // namespace tools::perf
