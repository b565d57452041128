// Out-of-band exchange over shared memory, among threads or forked processes.
#pragma once

#include <memory>
#include <vector>

#include "ucg/oob/exchange.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// Makes one object for each of `size` ranks. The caller makes them before it forks.
// UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY.
[[nodiscard]] ucs::result<std::vector<std::unique_ptr<exchange>>> make_local(rank_t size,
                                                                             double timeout);

}  // namespace ucg::oob
