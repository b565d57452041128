// The log components of this layer.
#pragma once

#include "ucs/log/log.hpp"

namespace uct {

inline constinit const ucs::log::component uct_log{"uct"};
inline constinit const ucs::log::component capi_log{"uct.capi"};
inline constinit const ucs::log::component cma_log{"uct.cma"};
inline constinit const ucs::log::component cuda_log{"uct.cuda"};
inline constinit const ucs::log::component ib_log{"uct.ib"};
inline constinit const ucs::log::component memory_log{"uct.memory"};
inline constinit const ucs::log::component posix_log{"uct.posix"};

}  // namespace uct
