// Exceptions of the tools. main() catches them and prints one line.
#pragma once

#include <stdexcept>

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

inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;

}  // namespace tools
