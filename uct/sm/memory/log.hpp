// Where shared memory for users logs.
#pragma once

#include "ucs/log/log.hpp"

namespace uct::sm {

inline constinit const ucs::log::component memory_log{"uct.memory"};

}  // namespace uct::sm
