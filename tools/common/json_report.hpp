// The JSON document of --json: the run's conditions, its settings, and a row for each result.
#pragma once

#include <functional>

#include "tools/common/conditions.hpp"

namespace tools {

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
