// Ranks that the program starts on this host by itself.
#pragma once

#include <ucg/api/ucg_oob.h>

#include <cstdint>
#include <functional>

namespace tools::ucg_perf {

// Forks `count` processes, each of which runs `body` with its rank and exchange and ends with what
// it returns. Waits for all. The exit status of the first that had another one than 0. When one has
// failed the others get `limit` seconds to notice, at most half a minute, and then are killed; 0:
// half a minute. Throws failure.
[[nodiscard]] int run_local_ranks(std::uint32_t count, double limit,
                                  const std::function<int(std::uint32_t, ucg_oob_t*)>& body);

}  // namespace tools::ucg_perf
