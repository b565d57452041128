// Simulated exhaustion of memory.
#pragma once

#include <cstddef>

namespace exhaustion {

// The library uses this program's operator new, too. While armed, it counts allocations, and the
// `nth` one fails: it alone, or with all later ones.
enum class failing { once, from_then_on };

void arm(failing fails, std::size_t nth) noexcept;
// Ends the simulation: no further allocation fails. Returns the number of allocations.
std::size_t disarm() noexcept;

// Returns true if an allocation has failed since arm().
[[nodiscard]] bool struck() noexcept;

// Number of allocations that were not freed.
[[nodiscard]] std::size_t live() noexcept;
// The lowest free descriptor. It grows if descriptors are leaked.
[[nodiscard]] int next_descriptor() noexcept;

}  // namespace exhaustion
