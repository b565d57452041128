// Options that apply to the whole process.
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

// Returns the tables that every program has: general options, logging, memory events, security,
// object tree. For `ucx_info -c`; warn_unknown() and modify() include them anyway. Defined in
// ucs/settings, which knows the folders that have options.
[[nodiscard]] std::span<const table* const> general_tables();

}  // namespace ucs::config
