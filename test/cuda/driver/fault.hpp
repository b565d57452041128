// Failures that a test asks for.
#pragma once

#include "test/cuda/driver/functions.hpp"

namespace standin {

// The name under which an operation of a stream is asked to fail when it runs.
inline constexpr const char* operation_fault = "operation";

// Counts a call and returns the failure that was asked for it; CUDA_SUCCESS for most calls. The
// lock is held.
[[nodiscard]] CUresult take_fault(const char* name);

}  // namespace standin
