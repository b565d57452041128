// Out-of-band exchange among ranks that a launcher with PMIx started.
#pragma once

#include <memory>

#include "ucg/oob/exchange.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// Implements ucg_oob_create_pmix.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_pmix(double timeout);

}  // namespace ucg::oob
