// Properties of a peer's lanes, as input for cost predictions.
#pragma once

#include "ucp/proto/protocol.hpp"

namespace ucp {

class peer;

// Returns the properties for a transfer of `length` bytes, which may use several rails.
[[nodiscard]] lane_set lane_set_for(const peer& to, std::size_t length) noexcept;

}  // namespace ucp
