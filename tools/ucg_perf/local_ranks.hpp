// Runs all ranks of a job as processes on this host (option -p).
#pragma once

#include <ucg/api/ucg_oob.h>

#include <cstdint>
#include <functional>

namespace tools::ucg_perf {

// Forks `count` processes. Each runs `body` with its rank and out-of-band allgather, and exits with
// the value that `body` returns. Waits for all processes. Returns the exit status of the first
// process that failed, or 0. If a process has failed, the others get `limit` seconds (at least 1
// and at most 30; 0 means 30) to notice that and exit, before they are killed. Throws failure.
[[nodiscard]] int run_local_ranks(std::uint32_t count, double limit,
                                  const std::function<int(std::uint32_t, ucg_oob_t*)>& body);

}  // namespace tools::ucg_perf
