// Looking options up by name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ucs/config/option.hpp"

namespace ucs::config {

// The option of this name (without UCX_) in the tables or in general_tables(); nullptr: none.
[[nodiscard]] const option* find_option(std::span<const table* const> known, std::string_view name);

// The known name most like `name`, empty when none is near enough to be a slip of the pen.
[[nodiscard]] std::string nearest_name(std::span<const table* const> known, std::string_view name);

}  // namespace ucs::config
