// Finds the size of a System V shared memory segment.
#pragma once

#include <cstddef>

namespace ucm {

// Returns the size of the mapping that begins at `address`, or 0 if there is none. Reads
// /proc/self/maps through a buffer on the stack, without allocation. Any thread.
[[nodiscard]] std::size_t segment_size_at(const void* address) noexcept;

// Returns the size of the segment with this System V id, or 0 if there is none. Any thread.
[[nodiscard]] std::size_t segment_size_of(int shmid) noexcept;

}  // namespace ucm
