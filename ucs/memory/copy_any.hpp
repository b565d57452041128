// Copies between memory of the host and of devices that wait for their end.
#pragma once

#include <cstddef>

#include "ucs/type/status.h"

namespace ucs::memory {

// Copies between memory of any kinds, and returns when the data is there. A copy on a device does
// not wait for streams of the program, and they do not wait for it. Returns UCS_OK or the error of
// the device, which is logged. Any thread; if memory of a device is involved, a device_memory_user
// must exist.
ucs_status_t copy_any(void* to, const void* from, std::size_t length) noexcept;

namespace detail {
// Destroys the streams and releases the contexts that copy_any has used.
void release_copy_resources() noexcept;
}  // namespace detail

}  // namespace ucs::memory
