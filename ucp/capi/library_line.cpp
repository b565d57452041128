#include "ucp/capi/library_line.hpp"

#include <dlfcn.h>
#include <ucp/api/ucp.h>

#include <atomic>

#include "ucp/log/log.hpp"

namespace ucp::capi {
namespace {

// Returns the path of the file that contains this function.
const char* own_path() noexcept {
    Dl_info info{};
    const bool found = ::dladdr(reinterpret_cast<const void*>(&own_path), &info) != 0;
    return found && info.dli_fname != nullptr ? info.dli_fname : "an unknown file";
}

}  // namespace

void log_library() noexcept {
    static std::atomic_flag done;
    if (!core_log.enabled(ucs::log::level::info) || done.test_and_set()) return;
    ucs::log::info(core_log, "Hawser {}, loaded from {}", ucp_get_version_string(), own_path());
}

}  // namespace ucp::capi
