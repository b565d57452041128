// Chooses an out-of-band exchange by the environment variables of a launcher.
#pragma once

#include <memory>

#include "ucg/oob/exchange.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// Implements ucg_oob_create_env.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_from_environment();

}  // namespace ucg::oob
