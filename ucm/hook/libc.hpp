// The replacements of mmap, munmap and other functions of the C library.
#pragma once

#include "ucm/hook/replaced_library.hpp"

namespace ucm::hook {

// Returns the C library of this process, which reports events of the host's memory.
[[nodiscard]] replaced_library& libc() noexcept;

}  // namespace ucm::hook
