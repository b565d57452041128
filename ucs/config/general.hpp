// Options of the process as a whole.
#pragma once

#include <span>
#include <string>

#include "ucs/config/option.hpp"

namespace ucs::config {

struct general_settings {
    bool warn_unused = true;
    std::string config_dir;

    static const table& options();
};

// The tables that every program knows beside those of what it uses: these, logging, memory events,
// security, object tree.
// For `ucx_info -c`; warn_unknown and modify know them anyway.
[[nodiscard]] std::span<const table* const> general_tables();

}  // namespace ucs::config
