// The only clock of the library. Simulation replaces it by virtual time.
#pragma once

#include <atomic>
#include <cstdint>

namespace ucs::time {

// Nanoseconds since an arbitrary start; monotonic.
using nanoseconds = std::uint64_t;

inline constexpr nanoseconds microsecond = 1'000;
inline constexpr nanoseconds millisecond = 1'000'000;
inline constexpr nanoseconds second = 1'000'000'000;

// Current time: CLOCK_MONOTONIC, or the virtual clock installed by a simulation. Any thread.
//
// It reads the kernel's clock (vDSO, no system call) and not the time stamp counter: measured on
// a 2.6 GHz Xeon guest this takes 21 ns and a bare rdtsc 10 ns. The 11 ns are not worth a private
// calibration: the CPU states no TSC frequency there, a ratio taken in short time drifts from the
// kernel's clock by microseconds per second, and values of two processes could not be compared.
[[nodiscard]] nanoseconds now() noexcept;

// Installs a virtual clock (nullptr: the real one again). For simulation, before any worker runs.
using clock_function = nanoseconds (*)() noexcept;
void set_clock(clock_function clock) noexcept;

// Processor time that this thread has used; never virtual. A system call.
[[nodiscard]] nanoseconds thread_time() noexcept;

// Wall-clock time since 1970, for texts that people read; never virtual.
[[nodiscard]] nanoseconds since_epoch() noexcept;

[[nodiscard]] constexpr double to_seconds(nanoseconds t) noexcept {
    return static_cast<double>(t) * 1e-9;
}

// Converts a non-negative number of seconds to nanoseconds; a value that does not fit (infinity)
// gives the maximum.
[[nodiscard]] constexpr nanoseconds from_seconds(double seconds) noexcept {
    if (!(seconds > 0)) return 0;
    return seconds >= 1.8e10 ? ~nanoseconds{0} : static_cast<nanoseconds>(seconds * 1e9);
}

// A loop that ends only when another process has acted or time has passed calls this in each
// iteration. It does nothing, except under simulation: there the other processes act and time
// passes inside this call. Must not be called from the progress of a transport. Any thread.
void simulation_yield() noexcept;

// Installs the hook (nullptr: removes it). For simulation, before any worker runs.
using yield_function = void (*)() noexcept;
void set_simulation_yield(yield_function yield) noexcept;

}  // namespace ucs::time
