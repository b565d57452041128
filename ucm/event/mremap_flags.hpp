// Flags with which mremap has a fifth argument.
#pragma once

#include <sys/mman.h>

namespace ucm {

inline constexpr int mremap_to_address = MREMAP_FIXED | MREMAP_DONTUNMAP;

}  // namespace ucm
