// Ranks that a launcher with PMIx has started.
#pragma once

#include <memory>

#include "ucg/oob/exchange.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// As ucg_oob_create_pmix.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_pmix(double timeout);

}  // namespace ucg::oob
