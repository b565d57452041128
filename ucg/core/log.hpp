// The log component of groups and requests.
#pragma once

#include "ucs/log/log.hpp"

namespace ucg {

inline constinit const ucs::log::component core_log{"ucg"};

}  // namespace ucg
