// Settings and rows of ucx_perftest in its JSON document.
#pragma once

#include <string>

#include "tools/common/json_writer.hpp"
#include "tools/perf/core/batch.hpp"
#include "tools/perf/core/measurement.hpp"
#include "tools/perf/core/program_options.hpp"

namespace tools::perf {

// Conditions of the whole run: which side this is, the peer, and the threads' processors.
void write_settings(json_writer& into, const program_options& options);

// One test: its names in the batch files, its options as words, and its figures. With several
// threads, percentile and averages are null.
void write_row(json_writer& into, const test_case& test, const measurement& result,
               const std::string& extra_info);

}  // namespace tools::perf
