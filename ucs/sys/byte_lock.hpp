// Locks on single bytes of a file. Other processes can ask the kernel which process holds one.
#pragma once

#include <sys/types.h>

namespace ucs::sys {

// These locks (F_SETLK) belong to a process, not to a descriptor: a process that received the
// descriptor holds none of them. The kernel releases all locks of a process on a file when the
// process dies, and also when it closes any descriptor of that file. Any thread.

// Locks the byte of the file for this process. Returns false with errno set on failure: EAGAIN or
// EACCES if another process has locked it.
[[nodiscard]] bool lock_byte(int file, off_t byte) noexcept;

// Returns whether no other process has locked the byte, according to the kernel. Ignores a lock of
// the calling process.
[[nodiscard]] bool is_byte_free(int file, off_t byte) noexcept;

// Returns whether the given other process has locked the byte, according to the kernel. Returns
// false for the calling process, whose own lock is ignored.
[[nodiscard]] bool is_byte_locked_by(int file, off_t byte, pid_t process) noexcept;

}  // namespace ucs::sys
