// Anonymous files (memfd), which processes share as memory.
#pragma once

#include <cstddef>
#include <string>

#include "ucs/type/status.h"
#include "ucs/type/unique_fd.hpp"

namespace uct::sm {

// Returns an empty file that can be sealed, or a descriptor of -1 with errno set. Any thread.
[[nodiscard]] ucs::unique_fd make_memfd(const char* name) noexcept;

// Gives a new file its final size, filled with zeros, and seals the size. No page is touched.
// Returns nullptr, or the name of the call that failed, with errno set.
[[nodiscard]] const char* size_and_seal(int fd, std::size_t size) noexcept;

// Returns an empty text if a file of another process is ordinary memory of exactly `size` bytes for
// its whole life, so that accessing it cannot raise SIGBUS. Otherwise returns the reason.
[[nodiscard]] std::string why_not_memory(int fd, std::size_t size);

// Returns the status for an errno of a call that acquires a resource.
[[nodiscard]] ucs_status_t status_of_errno(int error) noexcept;

}  // namespace uct::sm
