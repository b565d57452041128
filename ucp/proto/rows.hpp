// Rows of the protocol table, one file each.
#pragma once

#include <span>

#include "ucp/proto/protocol.hpp"

namespace ucp {

extern const protocol eager_short;  // ucp/eager/short.cpp
extern const protocol eager_bcopy;  // ucp/eager/bcopy.cpp
extern const protocol eager_multi;  // ucp/eager/multi.cpp
extern const protocol rndv_get;     // ucp/rndv/get.cpp
extern const protocol rndv_stream;  // ucp/rndv/stream.cpp

// Returns all protocols, cheapest set-up first.
[[nodiscard]] std::span<const protocol* const> all_protocols() noexcept;

}  // namespace ucp
