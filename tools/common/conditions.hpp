// The conditions of a measurement, which a reader needs to reproduce it.
#pragma once

#include <vector>

#include "tools/common/json_writer.hpp"
#include "tools/common/version.hpp"

namespace tools {

struct run_conditions {
    std::string tool;
    std::vector<std::string> arguments;  // of the command line
    std::vector<library> libraries;
};

// Writes the member "conditions": the versions, the libraries' paths, the host, the processors that
// this process may use, the command line, and the environment's UCX_ and UCG_ variables. Omits the
// value of a variable that holds a key.
void write_conditions(json_writer& into, const run_conditions& conditions);

// Returns whether the value of an environment variable of this name is secret.
[[nodiscard]] bool is_secret(std::string_view name) noexcept;

}  // namespace tools
