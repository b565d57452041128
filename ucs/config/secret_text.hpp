// Option values that are secret. Every text is valid, so no error message shows it, and printing
// shows only that there is a value.
#pragma once

#include <string>

#include "ucs/config/option.hpp"

namespace ucs::config {

struct secret_text {
    std::string text;
};

// Printed instead of the value of a secret option.
inline constexpr const char* hidden_value = "(hidden)";

template<>
const value_type& value_type_of<secret_text>();

}  // namespace ucs::config
