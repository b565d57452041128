// The builds of kernel_bodies.hpp, one file for each set of instructions.
#pragma once

#include "ucg/reduce/kernel.hpp"

namespace ucg::reduce {

// Return nullptr if the operation is not defined for the type.
[[nodiscard]] kernel find_for_any(element type, operation op) noexcept;
#if defined(__x86_64__)
[[nodiscard]] kernel find_for_avx2(element type, operation op) noexcept;
[[nodiscard]] kernel find_for_avx512(element type, operation op) noexcept;
#endif

}  // namespace ucg::reduce
