// Where the C library's syscall() goes once it is replaced.
#pragma once

namespace ucm::hook {

// What syscall() does for the calls that change memory, with its result and errno.
long replaced_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept;

// The code to jump to from the place that find_syscall_entry finds; null where the processor is not
// known.
[[nodiscard]] const void* syscall_entry() noexcept;

// The system call instruction in syscall(), with which all other calls go on as if nothing had
// been replaced: some (vfork, clone) must not have another function on the stack.
void set_rest_of_syscall(const void* code) noexcept;

}  // namespace ucm::hook
