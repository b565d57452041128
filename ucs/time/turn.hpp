// What code does that waits for others without returning to the program.
#pragma once

namespace ucs::time {

// Called in each turn of a loop that ends only when others have acted or time has passed. Does
// nothing, but under simulation: there others act and time passes in here. Not below the progress
// of a transport. Any thread.
void give_turn() noexcept;

// Installs what it does (nullptr: nothing again). For simulation, before any worker runs.
using turn_function = void (*)() noexcept;
void set_turn(turn_function turn) noexcept;

}  // namespace ucs::time
