// The log components of the folders that need no component of their own library.
#pragma once

#include "ucs/log/log.hpp"

namespace ucg {

inline constinit const ucs::log::component core_log{"ucg"};

namespace moe {
inline constinit const ucs::log::component moe_log{"ucg.moe"};
}
namespace net {
inline constinit const ucs::log::component net_log{"ucg.net"};
}
namespace node {
inline constinit const ucs::log::component node_log{"ucg.node"};
}

}  // namespace ucg
