#include "tools/common/version.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "tools/common/build_config.hpp"

namespace tools {

library library_of(std::string name, std::string version, const void* function) {
    Dl_info place{};
    const bool found = ::dladdr(function, &place) != 0 && place.dli_fname != nullptr;
    return {std::move(name), std::move(version), found ? place.dli_fname : "unknown"};
}

library loaded_libucp() {
    void* const function = ::dlsym(RTLD_DEFAULT, "ucp_get_version_string");
    if (function == nullptr) return {"libucp", "unknown", "not loaded"};
    const auto version = reinterpret_cast<const char* (*)()>(function);
    return library_of("libucp", version(), function);
}

std::string version_text(std::string_view tool, std::span<const library> libraries) {
    std::string text =
        fmt::format("{} of Hawser {} (revision {})\n", tool, build_version, build_revision);
    for (const library& each : libraries)
        text += fmt::format("{} {}: {}\n", each.name, each.version, each.path);
    return text;
}

}  // namespace tools
