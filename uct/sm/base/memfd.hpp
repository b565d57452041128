// Anonymous files that processes share as memory.
#pragma once

#include <cstddef>
#include <string>

#include "ucs/type/status.h"
#include "ucs/type/unique_fd.hpp"

namespace uct::sm {

// An empty file that can be sealed, or a descriptor of -1 with errno set. Any thread.
[[nodiscard]] ucs::unique_fd make_memfd(const char* name) noexcept;

// Gives a new file its final size: zeros, no page is touched, and nobody can change the size any
// more. nullptr, or the call that failed, with errno set.
[[nodiscard]] const char* size_and_seal(int fd, std::size_t size) noexcept;

// Empty when a file that came from somebody else is ordinary memory of exactly `size` bytes for as
// long as it lives, so that touching it cannot raise SIGBUS. Else what is wrong, in words.
[[nodiscard]] std::string why_not_memory(int fd, std::size_t size);

// The status that errno stands for when a resource could not be had.
[[nodiscard]] ucs_status_t status_of_errno(int error) noexcept;

}  // namespace uct::sm
