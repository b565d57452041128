// Log component of the transports on RDMA devices.
#pragma once

#include "ucs/log/log.hpp"

namespace uct::ib {

extern const ucs::log::component ib_log;

}  // namespace uct::ib
