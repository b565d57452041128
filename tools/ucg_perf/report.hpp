// The output of ucg_perf: text table, CSV and JSON rows.
#pragma once

#include "tools/common/json_writer.hpp"
#include "tools/ucg_perf/options.hpp"

namespace tools::ucg_perf {

// Summary of the times of a row, in seconds. A percentile is the smallest time that is at least as
// long as that percentage of all times.
struct summary {
    double least = 0, median = 0, p95 = 0, p99 = 0, most = 0;
};
[[nodiscard]] summary summarise(std::vector<double> times);

// One collective of one size.
struct result_row {
    ucg_coll_t collective = UCG_COLL_ALLREDUCE;
    std::uint64_t bytes = 0;           // as -s
    std::uint64_t total_elements = 0;  // bytes that count in the bandwidth
    std::uint64_t iterations = 0;
    std::uint32_t ranks = 1;
    summary times;
    double bus_factor = 1;
    std::string algorithm;
    std::string reason;
    bool correct = true;
};

// Returns the title of the run and the head of the table, or an empty text when quiet. Text and CSV
// only.
[[nodiscard]] std::string header(const options& opts, const ucg_group_attr_t& group);
[[nodiscard]] std::string row(const options& opts, const result_row& result);

// Write the JSON document's settings of the whole run, and the members of one row.
void write_settings(json_writer& into, const options& opts, const ucg_group_attr_t& group);
void write_row(json_writer& into, const options& opts, const result_row& row);

}  // namespace tools::ucg_perf
