// How an operation on memory that is not mapped here is carried out.
#pragma once

#include <string>

#include "ucp/proto/protocol.hpp"

namespace ucp {

// Predicted seconds of both ways, for people and for the choice. Without a lane that reaches the
// memory there is only one.
struct remote_estimate {
    double single_copy;
    double messages;
};

[[nodiscard]] remote_estimate estimate_put(const lane_set& lanes, std::size_t length) noexcept;
[[nodiscard]] remote_estimate estimate_get(const lane_set& lanes, std::size_t length) noexcept;

// Whether the lane that reaches the memory serves.
[[nodiscard]] inline bool prefers_single_copy(const remote_estimate& of) noexcept {
    return of.single_copy <= of.messages;
}

// A table for people: from which length on which way serves, and what each would cost.
[[nodiscard]] std::string explain_remote(const lane_set& lanes);

}  // namespace ucp
