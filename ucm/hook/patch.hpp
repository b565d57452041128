// Writes a jump into code that other threads execute.
#pragma once

#include "ucm/hook/entry.hpp"

namespace ucm::hook {

// Returns true if there is a jump to `target` at `address`. Any thread.
[[nodiscard]] bool is_patched(const std::uint8_t* address, const void* target) noexcept;

// Replaces the instruction at `address` by a jump to `target`, which must be within reach. Other
// threads execute either the old instruction or the jump. Returns false if the system does not
// permit it, or if the code was changed meanwhile. One thread at a time.
[[nodiscard]] bool patch(std::uint8_t* address, const void* target) noexcept;

}  // namespace ucm::hook
