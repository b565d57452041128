// How long a System V shared memory attachment is.
#pragma once

#include <cstddef>

namespace ucm {

// Bytes of the mapping that begins at `address`, or 0. Reads /proc/self/maps through a buffer on
// the stack: no allocation. Any thread.
[[nodiscard]] std::size_t segment_size_at(const void* address) noexcept;

// Bytes of the segment with this System V id, or 0. Any thread.
[[nodiscard]] std::size_t segment_size_of(int shmid) noexcept;

}  // namespace ucm
