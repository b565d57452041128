// What a peer's lanes are to predictions.
#pragma once

#include "ucp/proto/protocol.hpp"

namespace ucp {

class peer;

// Of a transfer of so many bytes, which may go over several rails.
[[nodiscard]] lane_set lanes_of(const peer& to, std::size_t length) noexcept;

}  // namespace ucp
