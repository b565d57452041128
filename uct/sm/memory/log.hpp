// Log component of shared memory for users.
#pragma once

#include "ucs/log/log.hpp"

namespace uct::sm {

inline constinit const ucs::log::component memory_log{"uct.memory"};

}  // namespace uct::sm
