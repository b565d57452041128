// Chooses how to carry out an operation on memory that is not mapped here.
#pragma once

#include <string>

#include "ucp/proto/protocol.hpp"

namespace ucp {

// Predicted seconds of both methods, for the choice and for display. If no lane reaches the memory,
// single_copy is infinite.
struct remote_estimate {
    double single_copy;
    double messages;
};

[[nodiscard]] remote_estimate estimate_put(const lane_set& lanes, std::size_t length) noexcept;
[[nodiscard]] remote_estimate estimate_get(const lane_set& lanes, std::size_t length) noexcept;

// Returns true if the lane that reaches the memory is predicted to be faster.
[[nodiscard]] inline bool prefers_single_copy(const remote_estimate& estimate) noexcept {
    return estimate.single_copy <= estimate.messages;
}

// Returns a table for people: the method for each length, and the predicted cost of both methods.
[[nodiscard]] std::string explain_remote(const lane_set& lanes);

}  // namespace ucp
