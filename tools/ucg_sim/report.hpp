// What ucg_sim prints.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace tools::ucg_sim
