#include <dlfcn.h>
#include <fmt/format.h>
#include <ucp/api/ucp.h>

#include "tools/info/build_config.hpp"
#include "tools/info/pages.hpp"

namespace tools::info {

void print_version() {
    Dl_info where{};
    const bool found = ::dladdr(reinterpret_cast<void*>(&ucp_get_version), &where) != 0;
    fmt::print("# Library version: {}\n", ucp_get_version_string());
    fmt::print("# Library path: {}\n",
               found && where.dli_fname != nullptr ? where.dli_fname : "unknown");
    fmt::print("# API headers version: {}.{}.0\n", UCP_API_MAJOR, UCP_API_MINOR);
    fmt::print("# Git branch '{}', revision {}\n", build_branch, build_revision);
    fmt::print("# Configured with: {}\n", build_configuration);
}

void print_build() {
    for (const build_setting& one : build_settings) {
        fmt::print("#define {:<25} {}\n", one.name, one.value);
    }
}

}  // namespace tools::info
