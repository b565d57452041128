// Log components of the protocol layer.
#pragma once

#include "ucs/log/log.hpp"

namespace ucp {

extern const ucs::log::component core_log;    // "ucp": contexts, workers, arguments
extern const ucs::log::component wireup_log;  // "ucp.wireup": connections and lanes
extern const ucs::log::component proto_log;   // "ucp.proto": protocols and messages

}  // namespace ucp
