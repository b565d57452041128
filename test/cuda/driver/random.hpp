// Seeded random numbers for the order of operations.
#pragma once

#include <cstdint>

namespace standin {

// Mixes the bits of a number (the finalizer of splitmix64).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

// Sets and returns the seed of operations that begin from now on. Any thread.
void set_seed(std::uint64_t seed) noexcept;
[[nodiscard]] std::uint64_t current_seed() noexcept;

// Returns the time in nanoseconds that an operation takes: none for a quarter of them, and much
// longer than usual for an eighth. It follows from the seed and from the numbers of stream and
// operation. Any thread.
[[nodiscard]] std::uint64_t delay_of(std::uint64_t stream, std::uint64_t operation) noexcept;

}  // namespace standin
