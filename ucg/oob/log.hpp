// The log component of what brings ranks together.
#pragma once

#include "ucs/log/log.hpp"

namespace ucg::oob {

inline constinit const ucs::log::component oob_log{"ucg.oob"};

}  // namespace ucg::oob
