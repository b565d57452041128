// Settings and rows of ucx_perftest in its JSON document.
#pragma once

#include "tools/common/json_writer.hpp"
#include "tools/perf/core/batch.hpp"
#include "tools/perf/core/program_options.hpp"

namespace tools::perf {

// Writes the conditions of the run: the role of this process, the peer, and the threads'
// processors.
void write_settings(json_writer& into, const program_options& options);

// Writes one test: its names in the batch files, its options as words, and its results. With
// several threads, percentile and averages are null.
void write_row(json_writer& into, const test_case& test, const measurement& result,
               const std::string& extra_info);

}  // namespace tools::perf
