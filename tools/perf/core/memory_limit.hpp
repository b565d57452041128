// Limits the memory of a test's buffers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tools::perf {

// Returns the bytes of `count` buffers of `size` bytes. Throws failure if the buffers of all
// `threads` threads exceed an eighth of the memory that this process may use: the client chooses
// the sizes, and any process can be the client of a server without a job key.
[[nodiscard]] std::size_t memory_of_buffers(std::size_t count, std::size_t size,
                                            std::uint32_t threads = 1);

}  // namespace tools::perf
