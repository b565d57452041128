// What a launcher has left in the environment.
#pragma once

#include <memory>

#include "ucg/oob/exchange.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// As ucg_oob_create_env.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_of_environment();

}  // namespace ucg::oob
