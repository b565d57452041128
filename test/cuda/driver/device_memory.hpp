// Memory of cuMemAlloc and cuMemAllocManaged.
#pragma once

#include "test/cuda/driver/memory.hpp"

namespace standin {

// Returns the addresses and the memory of an allocation that was removed: of its own block, or of
// its part of a block that small allocations share. Also for imported memory.
void release_device_memory(const allocation& removed);

// Waits for the work that a function which frees memory waits for.
void drain_for_free(held_lock& lock, const allocation& dying);

}  // namespace standin
