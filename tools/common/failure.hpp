// Exceptions of the tools. main() catches them and prints one line.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "ucs/type/status.h"

namespace tools {

// The command line or a file it names is wrong. Exit status 2.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The work could not be done. Exit status 1.
class failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Throws failure with the name of the call or activity, unless the status is UCS_OK.
inline void require_ok(ucs_status_t status, std::string_view call) {
    if (status == UCS_OK) return;
    throw failure(fmt::format("{}: {}", call, ucs_status_string(status)));
}

inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;

}  // namespace tools
