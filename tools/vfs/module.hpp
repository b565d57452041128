// Checks for the module with libfuse, which processes need to be shown.
#pragma once

#include <string>

namespace tools::vfs {

// Returns the reason why processes of this installation cannot load the module, or an empty text.
// They look for it in UCX_MODULE_DIR, or in hawser/ beside the library.
[[nodiscard]] std::string why_no_module();

}  // namespace tools::vfs
