// Ranks that share memory: threads, and processes forked from one.
#pragma once

#include <memory>
#include <vector>

#include "ucg/oob/exchange.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// One object for each of `size` ranks, to be made before the forks. UCS_ERR_INVALID_PARAM,
// UCS_ERR_NO_MEMORY.
[[nodiscard]] ucs::result<std::vector<std::unique_ptr<exchange>>> make_local(rank_t size,
                                                                             double timeout);

}  // namespace ucg::oob
