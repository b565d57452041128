// A hook for loops that wait for other threads or processes without returning to the program.
#pragma once

namespace ucs::time {

// A loop that ends only when another process has acted or time has passed calls this in each
// iteration. It does nothing, except under simulation: there the other processes act and time
// passes inside this call. Must not be called from the progress of a transport. Any thread.
void simulation_yield() noexcept;

// Installs the hook (nullptr: removes it). For simulation, before any worker runs.
using yield_function = void (*)() noexcept;
void set_simulation_yield(yield_function yield) noexcept;

}  // namespace ucs::time
