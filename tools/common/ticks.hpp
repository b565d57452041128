// The clocks for measured loops.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tools {

// Nanoseconds of CLOCK_MONOTONIC.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

// Reads the processor's counter if one instruction does that, otherwise CLOCK_MONOTONIC.
[[nodiscard]] inline std::uint64_t read_ticks() noexcept {
#if defined(__x86_64__)
    // Order the read after all earlier instructions and before all later ones.
    _mm_lfence();
    const std::uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
#elif defined(__aarch64__)
    std::uint64_t value = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return monotonic_ns();
#endif
}

// Length of a tick in nanoseconds, measured against CLOCK_MONOTONIC since the first call, which
// belongs near the start of the program. Any thread.
[[nodiscard]] double nanoseconds_per_tick() noexcept;

}  // namespace tools
