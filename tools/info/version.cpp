#include "tools/common/version.hpp"

#include <fmt/format.h>
#include <ucp/api/ucp.h>

#include "tools/common/build_config.hpp"
#include "tools/info/pages.hpp"

namespace tools::info {

void print_version() {
    const library ucp = loaded_libucp();
    fmt::print("# Library version: {}\n", ucp.version);
    fmt::print("# Library path: {}\n", ucp.path);
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
