// The JSON document of --json: the run's conditions, its settings, and a row for each result.
#pragma once

#include <functional>
#include <vector>

#include "tools/common/json_writer.hpp"
#include "tools/common/version.hpp"

namespace tools {

// The conditions of a measurement, which a reader needs to reproduce it.
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

// Collects the rows. The caller prints the document at the end, so that a reader never gets a
// partial document. One thread uses it.
class json_report {
public:
    using writer = std::function<void(json_writer&)>;

    // `settings` writes the members of the object "settings".
    json_report(const run_conditions& conditions, const writer& settings);

    // `row` writes the members of one row.
    void add_row(const writer& row);

    // Complete and return the document. The member "error" is null after a successful run.
    [[nodiscard]] std::string finish();
    [[nodiscard]] std::string finish_after(std::string_view error);

private:
    template<class Error>
    std::string end_with(const Error& error);

    json_writer text_;
};

}  // namespace tools
