// Options of the object tree that ucx_vfs mounts.
#pragma once

#include <string>

#include "ucs/config/option.hpp"

namespace ucs::vfs {

struct settings {
    std::string module_dir;
    bool enable = true;
    std::string name;

    static const config::table& options();
};

}  // namespace ucs::vfs
