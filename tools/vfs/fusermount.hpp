// Mounts by fusermount3, for users other than root.
#pragma once

#include <string>

#include "ucs/type/unique_fd.hpp"

namespace tools::vfs {

[[nodiscard]] bool have_fusermount();

// Mounts and returns the descriptor of /dev/fuse, or an empty one and the reason.
[[nodiscard]] ucs::unique_fd fusermount(const std::string& path, const std::string& options,
                                        std::string& reason);
void fusermount_unmount(const std::string& path);

}  // namespace tools::vfs
