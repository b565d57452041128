// How much memory the buffers of a test may take.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tools::perf {

// Returns the bytes of `count` buffers of `size` bytes. Throws failure if these of all `threads`
// threads are more than an eighth of the memory that this process may use: the client chooses the
// sizes, and the client of a server without a job key may be a stranger.
[[nodiscard]] std::size_t memory_of_buffers(std::size_t count, std::size_t size,
                                            std::uint32_t threads = 1);

}  // namespace tools::perf
