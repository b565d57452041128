#include "tools/vfs/module.hpp"

#include <fmt/format.h>

#include <climits>
#include <cstdlib>

#include "ucs/sys/module.hpp"
#include "ucs/vfs/fuse_module.hpp"

namespace tools::vfs {
namespace {

// Returns the module folder of this installation, which has bin/ and lib/ side by side.
std::string module_folder() {
    const char* const chosen = std::getenv("UCX_MODULE_DIR");
    if (chosen != nullptr && *chosen != '\0') return chosen;
    char program[PATH_MAX];
    if (::realpath("/proc/self/exe", program) == nullptr) return {};
    const std::string path = program;
    return path.substr(0, path.rfind('/')) + "/../lib/hawser";
}

}  // namespace

std::string why_no_module() {
    std::string reason;
    const auto* const module =
        ucs::sys::load_module("fuse", module_folder(), ucs::vfs::fuse_module::expected(), reason);
    if (module != nullptr) return {};
    return fmt::format(
        "no process can be shown: {}; build with libfuse3 (contrib/install-packages vfs, then "
        "configure and build again), or say where it is by UCX_MODULE_DIR",
        reason);
}

}  // namespace tools::vfs
