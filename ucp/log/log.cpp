#include "ucp/log/log.hpp"

namespace ucp {

constinit const ucs::log::component core_log{"ucp"};
constinit const ucs::log::component wireup_log{"ucp.wireup"};
constinit const ucs::log::component proto_log{"ucp.proto"};

}  // namespace ucp
