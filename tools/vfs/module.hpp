// The module with libfuse, without which no process can show itself.
#pragma once

#include <string>

namespace tools::vfs {

// Why processes of this installation cannot load the module, in words; empty when they can. They
// look for it in UCX_MODULE_DIR, or in hawser/ beside the library.
[[nodiscard]] std::string why_no_module();

}  // namespace tools::vfs
