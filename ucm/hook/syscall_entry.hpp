// Entry point of the replaced syscall().
#pragma once

namespace ucm::hook {

// Carries out syscall() for the calls that change memory, with its result and errno.
long replaced_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept;

// Returns the code to jump to from the position that find_syscall_entry finds, or null if the
// processor is not supported.
[[nodiscard]] const void* syscall_entry() noexcept;

// Sets the address of the system call instruction in syscall(). All other calls continue there
// unchanged, because some of them (vfork, clone) must not have another function on the stack.
void set_rest_of_syscall(const void* code) noexcept;

}  // namespace ucm::hook
