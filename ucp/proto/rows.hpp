// Rows of the protocol table.
#pragma once

#include <span>

#include "ucp/proto/protocol.hpp"

namespace ucp {

extern const protocol eager_short;    // ucp/eager/short.cpp
extern const protocol eager_bcopy;    // ucp/eager/bcopy.cpp
extern const protocol eager_multi;    // ucp/eager/multi.cpp
extern const protocol rndv_in_place;  // ucp/rndv/protocols.cpp
extern const protocol rndv_stream;    // ucp/rndv/protocols.cpp

// Returns all protocols, cheapest set-up first.
[[nodiscard]] std::span<const protocol* const> all_protocols() noexcept;

}  // namespace ucp
