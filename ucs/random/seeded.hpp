// Random numbers that follow from a seed.
#pragma once

#include <cstdint>
#include <utility>

namespace ucs::sys {

inline constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;  // as a fraction of 2^64

// Steele's splitmix64 step: mixes the bits of a counter or a seed.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    value += golden_ratio;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

// The splitmix64 generator. It gives the same numbers from the same seed with every compiler and
// library, which the standard's distributions do not guarantee. Value type.
class random {
public:
    explicit random(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept { return mix(std::exchange(state_, state_ + golden_ratio)); }

    // In [0, bound); 0 for bound 0. The bias of the modulus does not matter for schedules.
    std::uint64_t below(std::uint64_t bound) noexcept { return bound == 0 ? 0 : next() % bound; }

    // In [low, high].
    std::uint64_t between(std::uint64_t low, std::uint64_t high) noexcept {
        return low >= high ? low : low + below(high - low + 1);
    }

    // Returns true with the given probability. Draws a number only if the result is open, so that a
    // disabled feature does not change the schedule of the others.
    bool chance(double probability) noexcept {
        if (probability <= 0) return false;
        if (probability >= 1) return true;
        return static_cast<double>(next() >> 11U) * 0x1.0p-53 < probability;
    }

private:
    std::uint64_t state_;
};

}  // namespace ucs::sys
