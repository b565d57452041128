// Mounting by fusermount3, which users other than root need.
#pragma once

#include <string>

#include "ucs/type/unique_fd.hpp"

namespace tools::vfs {

[[nodiscard]] bool have_fusermount();

// The descriptor of /dev/fuse, or none and the reason.
[[nodiscard]] ucs::unique_fd fusermount(const std::string& path, const std::string& options,
                                        std::string& why_not);
void fusermount_away(const std::string& path);

}  // namespace tools::vfs
