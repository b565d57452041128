// Estimates the heap memory of an allocation.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ucs::sys {

// Returns the bytes that the C library's allocator uses for an object of `bytes` bytes: a header of
// 8 bytes, rounded up to a multiple of 16. Large blocks use up to a page more, which is negligible
// for their size.
[[nodiscard]] constexpr std::uint64_t heap_cost(std::uint64_t bytes) noexcept {
    constexpr std::uint64_t header = 8;
    constexpr std::uint64_t smallest = 32;
    return std::max(smallest, (bytes + header + 15) / 16 * 16);
}

}  // namespace ucs::sys
