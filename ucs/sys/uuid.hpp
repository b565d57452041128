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

// Steele's splitmix64 step: mixes the bits of a counter or a seed.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

}  // namespace ucs::sys
