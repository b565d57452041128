// What ucg_perf prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/common/json_writer.hpp"
#include "tools/ucg_perf/options.hpp"

namespace tools::ucg_perf {

// Of the times of a row, seconds. A percentile is the smallest time that is not below so many
// percent of all.
struct summary {
    double least = 0, median = 0, p95 = 0, p99 = 0, most = 0;
};
[[nodiscard]] summary summarise(std::vector<double> times);

// One collective of one size.
struct result_row {
    ucg_coll_t what = UCG_COLL_ALLREDUCE;
    std::uint64_t bytes = 0;  // as -s
    std::uint64_t whole = 0;  // that count in the bandwidth
    std::uint64_t iterations = 0;
    std::uint32_t ranks = 1;
    summary times;
    double bus_factor = 1;
    std::string algorithm;
    std::string reason;
    bool right = true;
};

// Prints the title of the run and the head of the table; prints nothing when quiet. Text and CSV
// only.
[[nodiscard]] std::string header(const options& by, const ucg_group_attr_t& on);
[[nodiscard]] std::string row(const options& by, const result_row& of);

// The same in the JSON document: the settings of the whole run, and the members of a row.
void write_settings(json_writer& into, const options& wanted, const ucg_group_attr_t& group);
void write_row(json_writer& into, const options& wanted, const result_row& row);

}  // namespace tools::ucg_perf
