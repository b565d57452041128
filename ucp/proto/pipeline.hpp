// Predicted time of data that flows through the transport in fragments.
#pragma once

#include <algorithm>

#include "ucp/proto/protocol.hpp"

namespace ucp {

// Sender and receiver copy at the same time, one fragment apart: the time is that of one copy of
// everything (the slower of copying and the wire) plus one more fragment to fill the pipe.
[[nodiscard]] inline double pipeline_seconds(const lane_set& lanes, std::size_t length) noexcept {
    const uct::iface_attr& am = *lanes.am;
    const double fragment = static_cast<double>(std::min(length, am.max_bcopy));
    const double bytes = static_cast<double>(length);
    // The ring stays in cache; only the users' buffers may not.
    const double copy = lanes.costs->copy_bandwidth(length);
    const double rate = am.reach == uct::scope::network ? std::min(copy, am.bandwidth) : copy;
    const double pieces = fragment > 0 ? bytes / fragment : 1;
    return am.latency + am.overhead * std::max(1.0, pieces) + fragment / rate + bytes / rate +
           2 * lanes.costs->copy_overhead * std::max(1.0, pieces);
}

}  // namespace ucp
