// Where the posix transport logs.
#pragma once

#include "ucs/log/log.hpp"

namespace uct::posix {

inline constinit const ucs::log::component posix_log{"uct.posix"};

}  // namespace uct::posix
