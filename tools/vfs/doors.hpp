// Which processes can be looked at.
#pragma once

#include <string>
#include <vector>

namespace tools::vfs {

// Of the text of /proc/net/unix: abstract names with this beginning at which somebody listens.
[[nodiscard]] std::vector<std::string> listening_names(const std::string& table,
                                                       const std::string& prefix);

}  // namespace tools::vfs
