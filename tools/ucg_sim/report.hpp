// What ucg_sim prints.
#pragma once

#include <string>
#include <string_view>

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

// The machine in words, and the head of the table.
[[nodiscard]] std::string header(const ucg::sim::machine& on, bool csv);

// One line; in text a second one says what the time went into.
[[nodiscard]] std::string row(const result_row& of, bool csv);

// The same in the JSON document: the machine of the first number of ranks, and the members of a
// row.
void write_settings(json_writer& into, const ucg::sim::machine& machine);
void write_row(json_writer& into, const result_row& row, const ucg::sim::machine& machine);

}  // namespace tools::ucg_sim
