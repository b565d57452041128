// Libraries of kernels that a program has loaded.
#pragma once

#include <functional>

#include "test/cuda/driver/functions.hpp"

namespace standin {

// Calls the visitor with each library that is loaded. The lock is held.
void for_each_library(const std::function<void(CUlibrary)>& visitor);

}  // namespace standin
