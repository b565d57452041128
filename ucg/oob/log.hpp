// The log component of out-of-band exchanges.
#pragma once

#include "ucs/log/log.hpp"

namespace ucg::oob {

inline constinit const ucs::log::component oob_log{"ucg.oob"};

}  // namespace ucg::oob
