// Selects variables from a printed configuration.
#pragma once

#include <string>
#include <string_view>

namespace tools::info {

// Keeps the assignments ("UCX_TLS=all", "# UCX_TLS=all") whose name contains `part`, with the
// description in the comment block right above each. Case does not matter.
[[nodiscard]] std::string filter_config(std::string_view text, std::string_view part);

}  // namespace tools::info
