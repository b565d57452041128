// The options that describe a test: on the command line, in batch lines and from client to server.
#pragma once

#include "tools/common/command_line.hpp"
#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

// Returns the options, which set `into`.
[[nodiscard]] std::vector<option_row> test_rows(test_params& into);

// Applies a line of options. Throws usage_error, also for operands.
void apply_test_words(test_params& params, std::span<const std::string> words);

// Returns words that apply_test_words() converts back to the same parameters.
[[nodiscard]] std::vector<std::string> to_words(test_params params);

// Throws usage_error when options contradict each other or no test is named.
void check(const test_params& params);

}  // namespace tools::perf
