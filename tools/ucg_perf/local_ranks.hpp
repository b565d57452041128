// Starts the ranks of a job on this host (-p).
#pragma once

#include <ucg/api/ucg_oob.h>

#include <cstdint>
#include <functional>

namespace tools::ucg_perf {

// Forks `count` processes. Each runs `body` with its rank and out-of-band allgather, and exits with
// the value that `body` returns. Waits for all processes, and returns the first exit status that is
// not 0. If a process has failed, the others get `limit` seconds to notice, at most half a minute,
// before they are killed; 0: half a minute. Throws failure.
[[nodiscard]] int run_local_ranks(std::uint32_t count, double limit,
                                  const std::function<int(std::uint32_t, ucg_oob_t*)>& body);

}  // namespace tools::ucg_perf
