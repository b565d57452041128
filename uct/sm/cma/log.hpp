// Log component of the cma transport.
#pragma once

#include "ucs/log/log.hpp"

namespace uct::cma {

inline constinit const ucs::log::component cma_log{"uct.cma"};

}  // namespace uct::cma
