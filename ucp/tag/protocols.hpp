// The rows of the protocol table for tagged messages, one file each.
#pragma once

#include "ucp/proto/protocol.hpp"

namespace ucp {

extern const protocol eager_short;  // ucp/tag/eager_short.cpp
extern const protocol eager_bcopy;  // ucp/tag/eager_bcopy.cpp
extern const protocol eager_multi;  // ucp/tag/eager_multi.cpp
extern const protocol rndv_get;     // ucp/rndv/get.cpp
extern const protocol rndv_stream;  // ucp/rndv/stream.cpp

}  // namespace ucp
