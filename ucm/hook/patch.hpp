// Putting a jump into code that other threads execute.
#pragma once

#include "ucm/hook/entry.hpp"

namespace ucm::hook {

// Whether `where` has a jump to `target`. Any thread.
[[nodiscard]] bool is_patched(const std::uint8_t* where, const void* target) noexcept;

// Puts a jump to `target`, which must be within reach, in place of the instruction at `where`.
// Other threads execute either the one or the other. False: the system does not permit it, or
// somebody else changed the code meanwhile. One thread at a time.
[[nodiscard]] bool patch(std::uint8_t* where, const void* target) noexcept;

}  // namespace ucm::hook
