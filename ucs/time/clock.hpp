// The only clock of the library. Simulation replaces it by virtual time.
#pragma once

#include <atomic>
#include <cstdint>

namespace ucs::time {

// Nanoseconds since an arbitrary start; monotonic.
using nanoseconds = std::uint64_t;

// Current time: CLOCK_MONOTONIC, or the virtual clock installed by a simulation.
[[nodiscard]] nanoseconds now() noexcept;

// Installs a virtual clock (nullptr: the real one again). For simulation, before any worker runs.
using clock_function = nanoseconds (*)() noexcept;
void set_clock(clock_function clock) noexcept;

}  // namespace ucs::time
