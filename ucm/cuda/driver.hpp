// The replacements of the functions of the CUDA driver that allocate and free memory.
#pragma once

#include "ucm/hook/replaced_library.hpp"

namespace ucm::cuda {

// Returns the CUDA driver of this process, which reports UCM_EVENT_MEM_TYPE_ALLOC and
// UCM_EVENT_MEM_TYPE_FREE. It is never loaded by this: as long as the program has not loaded it,
// nothing is detected.
[[nodiscard]] hook::replaced_library& driver() noexcept;

}  // namespace ucm::cuda
