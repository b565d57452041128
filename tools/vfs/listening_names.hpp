// Finds the names at which processes listen for the daemon.
#pragma once

#include <string>
#include <vector>

namespace tools::vfs {

// Returns the abstract names with this prefix at which a socket listens. `table`: the text of
// /proc/net/unix.
[[nodiscard]] std::vector<std::string> listening_names(const std::string& table,
                                                       const std::string& prefix);

}  // namespace tools::vfs
