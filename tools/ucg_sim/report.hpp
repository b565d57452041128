// The output of ucg_sim: text table, CSV and JSON rows.
#pragma once

#include "tools/common/json_writer.hpp"
#include "ucg/sim/experiment.hpp"

namespace tools::ucg_sim {

// One collective of one size by one algorithm.
struct result_row {
    std::string_view collective;
    std::string_view algorithm;
    double bytes = 0;
    double predicted = 0;  // seconds
    ucg::sim::outcome found;
};

// Returns a description of the machine, and the head of the table.
[[nodiscard]] std::string header(const ucg::sim::machine& on, bool csv);

// Returns one line; in text a second line breaks the time down.
[[nodiscard]] std::string row(const result_row& result, bool csv);

// Write the JSON document's settings, the machine with the first number of ranks, and the members
// of a row.
void write_settings(json_writer& into, const ucg::sim::machine& machine);
void write_row(json_writer& into, const result_row& row, const ucg::sim::machine& machine);

}  // namespace tools::ucg_sim
