// Finds options by name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ucs/config/option.hpp"

namespace ucs::config {

// Returns the option of this name (without UCX_) in the tables or in general_tables(); nullptr if
// there is none.
[[nodiscard]] const option* find_option(std::span<const table* const> known, std::string_view name);

// Returns the known name most similar to `name`; empty if none is similar enough to be a typing
// error.
[[nodiscard]] std::string nearest_name(std::span<const table* const> known, std::string_view name);

}  // namespace ucs::config
