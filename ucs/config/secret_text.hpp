// Option values that are secret: every text is a right one, so no message has a reason to show it,
// and printing shows that there is one and not which.
#pragma once

#include <string>

#include "ucs/config/option.hpp"

namespace ucs::config {

struct secret_text {
    std::string text;
};

// Appears wherever the value of a secret option would be printed.
inline constexpr const char* hidden_value = "(hidden)";

template<>
const value_type& value_type_of<secret_text>();

}  // namespace ucs::config
