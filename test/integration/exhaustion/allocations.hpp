// Memory that runs out when a test says so.
#pragma once

#include <cstddef>

namespace exhaustion {

// This program's operator new serves the library as well. While it is armed, allocations are
// counted, and the `nth` one fails: alone, or with all that follow.
enum class how { once, from_then_on };

void arm(how fails, std::size_t nth) noexcept;
// No allocation fails any more. Returns how many there were.
std::size_t disarm() noexcept;

// Whether one has failed since arm.
[[nodiscard]] bool struck() noexcept;

// Allocations that were not given back.
[[nodiscard]] std::size_t live() noexcept;
// The descriptor that would be opened next: what is not closed makes it grow.
[[nodiscard]] int next_descriptor() noexcept;

}  // namespace exhaustion
