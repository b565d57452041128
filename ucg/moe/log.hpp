// The log component of dispatch and combine.
#pragma once

#include "ucs/log/log.hpp"

namespace ucg::moe {

inline constinit const ucs::log::component moe_log{"ucg.moe"};

}  // namespace ucg::moe
