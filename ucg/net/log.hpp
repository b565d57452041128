// The log component of messages over ucp.
#pragma once

#include "ucs/log/log.hpp"

namespace ucg::net {

inline constinit const ucs::log::component net_log{"ucg.net"};

}  // namespace ucg::net
