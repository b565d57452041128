// The log component of the node's engine.
#pragma once

#include "ucs/log/log.hpp"

namespace ucg::node {

inline constinit const ucs::log::component node_log{"ucg.node"};

}  // namespace ucg::node
