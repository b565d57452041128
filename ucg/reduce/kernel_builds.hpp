// The builds of kernel_bodies.hpp, one file for each set of instructions.
#pragma once

#include "ucg/reduce/kernel.hpp"

namespace ucg::reduce {

// nullptr where the operation is not defined.
[[nodiscard]] kernel find_for_any(element what, operation how) noexcept;
#if defined(__x86_64__)
[[nodiscard]] kernel find_for_avx2(element what, operation how) noexcept;
[[nodiscard]] kernel find_for_avx512(element what, operation how) noexcept;
#endif

}  // namespace ucg::reduce
