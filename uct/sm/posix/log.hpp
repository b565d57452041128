// Log component of the posix transport.
#pragma once

#include "ucs/log/log.hpp"

namespace uct::posix {

inline constinit const ucs::log::component posix_log{"uct.posix"};

}  // namespace uct::posix
