// Proves to the ranks of a node which process each of them is.
#pragma once

#include <sys/types.h>

#include "ucg/node/layout.hpp"

namespace ucg::node {

// A rank says which process it is, and could name any. So each rank locks a byte of the node's
// memory file, and the kernel tells the others which process has done so. A process that only holds
// a descriptor of the file, as one that somebody has passed to it, has not. The locks of a process
// are gone when it closes any descriptor of the file. Any thread.

// Locks the byte of this rank. False: another process has it, or the system refuses.
[[nodiscard]] bool lock_as(int file, rank_t rank) noexcept;

// Returns whether that process has locked the byte of the rank. False for the calling process
// itself, of which the kernel tells nothing.
[[nodiscard]] bool is_locked_by(int file, rank_t rank, pid_t pid) noexcept;

}  // namespace ucg::node
