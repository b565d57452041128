// The bytes of the heap that an allocation takes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ucs::sys {

// Returns the bytes that the C library's allocator takes for an object of `bytes` bytes: its header
// of 8 bytes, and what fills it up to a multiple of 16. Large blocks take up to a page more, which
// is small against them.
[[nodiscard]] constexpr std::uint64_t heap_cost(std::uint64_t bytes) noexcept {
    constexpr std::uint64_t header = 8;
    constexpr std::uint64_t smallest = 32;
    return std::max(smallest, (bytes + header + 15) / 16 * 16);
}

}  // namespace ucs::sys
