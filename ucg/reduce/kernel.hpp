// Kernels that reduce arrays: one function for each type and operation, built for several
// instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/reduce/element.hpp"

namespace ucg::reduce {

// into[i] = from[0][i] op from[1][i] op … for i < count, in this order. The bits of the result do
// not depend on the processor or on how the array is cut into pieces. Narrow floating point is
// added up in fp32 and rounded once, at the end. `into` may be equal to a source, but must not
// overlap a source otherwise.
struct job {
    void* into;
    const void* const* from;
    std::size_t sources;        // at least one
    std::size_t count;          // elements
    std::uint64_t divisor = 0;  // average: the result is divided by it; 0: no division
};
using kernel = void (*)(const job& job) noexcept;

// The instruction sets that a kernel may use.
enum class processor : std::uint8_t { any, avx2, avx512 };

[[nodiscard]] bool is_supported(processor instructions) noexcept;

// Returns the fastest kernel for this processor, or nullptr if the operation is not defined for the
// type. The kernel of an average is that of a sum; the caller of the last step sets the divisor.
// Any thread.
[[nodiscard]] kernel find_kernel(element type, operation op) noexcept;

// Returns the kernel for an instruction set, for tests and measurements.
[[nodiscard]] kernel find_kernel(element type, operation op, processor instructions) noexcept;

// Return nullptr if the operation is not defined for the type.
[[nodiscard]] kernel find_for_any(element type, operation op) noexcept;
#if defined(__x86_64__)
[[nodiscard]] kernel find_for_avx2(element type, operation op) noexcept;
[[nodiscard]] kernel find_for_avx512(element type, operation op) noexcept;
#endif

}  // namespace ucg::reduce
