// Random numbers and random ids.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucs::sys {

// Fills memory from the kernel's random generator. If that fails, uses clock, process and address
// bits, which are unique enough for names but not secret. Any thread.
void random_bytes(void* into, std::size_t size) noexcept;

// Returns a random 64-bit id, which is unique with high probability; never 0.
[[nodiscard]] std::uint64_t random_id() noexcept;

}  // namespace ucs::sys
