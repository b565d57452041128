// Reducing arrays: one function for each type and operation, in several builds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/reduce/element.hpp"

namespace ucg::reduce {

// into[i] = from[0][i] op from[1][i] op … for i < count, in this order: the same bits on every
// processor and for any division into pieces. Narrow floating point is added up in fp32 and rounded
// once, at the end. `into` may be one of the sources, and may not overlap one otherwise.
struct job {
    void* into;
    const void* const* from;
    std::size_t sources;        // at least one
    std::size_t count;          // elements
    std::uint64_t divisor = 0;  // of an average: what the result is divided by; 0: nothing
};
using kernel = void (*)(const job& what) noexcept;

// Instructions that a kernel may use.
enum class processor : std::uint8_t { any, avx2, avx512 };

[[nodiscard]] bool is_here(processor which) noexcept;

// The fastest one for this processor; nullptr where the operation is not defined. That of an
// average is that of a sum: whoever makes the last step gives the divisor. Any thread.
[[nodiscard]] kernel find_kernel(element what, operation how) noexcept;

// One for certain instructions, for tests and measurements.
[[nodiscard]] kernel find_kernel(element what, operation how, processor with) noexcept;

}  // namespace ucg::reduce
