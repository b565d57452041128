// Options that apply to the whole process.
#pragma once

#include <span>
#include <string>
#include <string_view>

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

// Returns the option of this name (without UCX_) in the tables or in general_tables(); nullptr if
// there is none.
[[nodiscard]] const option* find_option(std::span<const table* const> known, std::string_view name);

// Returns the known name most similar to `name`; empty if none is similar enough to be a typing
// error.
[[nodiscard]] std::string nearest_name(std::span<const table* const> known, std::string_view name);

}  // namespace ucs::config
