// Locks of a process on single bytes of a file, which tell others that this process holds them.
#pragma once

#include <sys/types.h>

namespace ucs::sys {

// The kernel keeps these locks (F_SETLK) for processes, not for descriptors: a process that was
// only handed a descriptor holds none of them. All locks of a process on a file are gone when the
// process dies, and also when it closes any descriptor of that file. Any thread.

// Locks the byte of the file for this process. Returns false, with errno set: EAGAIN or EACCES
// where another process has locked it.
[[nodiscard]] bool lock_byte(int file, off_t byte) noexcept;

// Returns whether the kernel says that no other process has locked the byte. The lock of the
// calling process itself is not seen.
[[nodiscard]] bool is_byte_free(int file, off_t byte) noexcept;

// Returns whether the kernel says that this other process has locked the byte. False for the
// calling process, whose own lock is not seen.
[[nodiscard]] bool is_byte_locked_by(int file, off_t byte, pid_t process) noexcept;

}  // namespace ucs::sys
