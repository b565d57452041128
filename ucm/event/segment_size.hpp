// Size of a System V shared memory attachment.
#pragma once

#include <cstddef>

namespace ucm {

// Returns the bytes of the mapping that begins at `address`, or 0. Reads /proc/self/maps through a
// buffer on the stack, without allocation. Any thread.
[[nodiscard]] std::size_t segment_size_at(const void* address) noexcept;

// Returns the bytes of the segment with this System V id, or 0. Any thread.
[[nodiscard]] std::size_t segment_size_of(int shmid) noexcept;

}  // namespace ucm
