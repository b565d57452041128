// The file operations of the mounted tree.
#pragma once

#define FUSE_USE_VERSION 35
#include <fuse3/fuse.h>
#include <fuse3/fuse_lowlevel.h>

namespace ucs::vfs {

// The table for fuse_new(), whose user data must be vfs::ask. One thread.
[[nodiscard]] const fuse_operations& fuse_operations_of_tree() noexcept;

}  // namespace ucs::vfs
