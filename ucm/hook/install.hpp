// Noticing what the process does to its memory, by replacing functions of the C library.
#pragma once

namespace ucm::hook {

// Replaces the functions by which events of these kinds come about, as far as that is not done yet.
// Returns the kinds that are noticed now. What is replaced stays so until the process ends. Any
// thread, but not from a handler: it looks for functions by the dynamic linker, which allocates.
int install(int events) noexcept;

// Replaces functions again that another library has replaced since, so that both are called. Any
// thread, from a handler too; nothing is done while another thread does it.
void repair() noexcept;

// In the child of a fork: a thread that was at it is not there any more.
void forget_other_threads() noexcept;

// The kinds that are noticed at the moment. Any thread, from a handler too.
[[nodiscard]] int installed() noexcept;

}  // namespace ucm::hook
