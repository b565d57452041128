// Counts the calls of each function.
#pragma once

#include "test/cuda/driver/functions.hpp"

namespace standin {

// Any thread, without a lock.
void count_call(function called) noexcept;

}  // namespace standin
