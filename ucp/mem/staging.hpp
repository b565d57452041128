// Host memory between memory of devices and the transports.
#pragma once

#include <cstddef>

namespace ucp::mem {

// Allocates ordinary host memory for data of a device. Returns nullptr if there is no memory, which
// is logged. Any thread.
[[nodiscard]] std::byte* allocate_staging(std::size_t length) noexcept;
void free_staging(std::byte* memory, std::size_t length) noexcept;

}  // namespace ucp::mem
