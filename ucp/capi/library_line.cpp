#include "ucp/capi/library_line.hpp"

#include <dlfcn.h>
#include <ucp/api/ucp.h>

#include <atomic>

#include "ucp/core/log.hpp"

namespace ucp::capi {
namespace {

// Path of the file that holds this function.
const char* own_path() noexcept {
    Dl_info place{};
    const bool found = ::dladdr(reinterpret_cast<const void*>(&own_path), &place) != 0;
    return found && place.dli_fname != nullptr ? place.dli_fname : "an unknown file";
}

}  // namespace

void tell_library() noexcept {
    static std::atomic_flag told;
    if (!core_log.enabled(ucs::log::level::info) || told.test_and_set()) return;
    ucs::log::info(core_log, "Hawser {}, loaded from {}", ucp_get_version_string(), own_path());
}

}  // namespace ucp::capi
