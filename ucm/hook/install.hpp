// Detection of memory events by replacing functions of the C library.
#pragma once

namespace ucm::hook {

// Replaces the functions that cause events of these kinds, unless they are replaced already.
// Returns the kinds that are detected now. Replaced functions stay replaced until the process ends.
// Any thread, but not from a handler, because finding functions uses the dynamic linker, which
// allocates.
int install(int events) noexcept;

// Replaces functions again that another library has replaced since, so that both replacements are
// called. Any thread, also from a handler. Does nothing while another thread does it.
void repair() noexcept;

// Call in the child of a fork, where a thread that was installing does not exist.
void forget_other_threads() noexcept;

// Returns the kinds that are detected now. Any thread, also from a handler.
[[nodiscard]] int installed() noexcept;

}  // namespace ucm::hook
