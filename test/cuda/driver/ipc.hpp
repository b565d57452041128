// Memory that other processes have exported, and its handles.
#pragma once

#include "test/cuda/driver/memory.hpp"

namespace standin {

// Unmaps imported memory that was removed from the table of memory.
void release_imported(const allocation& removed);

}  // namespace standin
