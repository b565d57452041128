// The tests of put, get and atomic operations.
#pragma once

#include "tools/perf/core/workload.hpp"

namespace tools::perf {

[[nodiscard]] std::span<const test_row> remote_memory_tests() noexcept;

}  // namespace tools::perf
