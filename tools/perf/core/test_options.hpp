// The options that describe a test: on the command line, in batch lines and from client to server.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/option_scanner.hpp"
#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

inline constexpr std::string_view test_flags = "CUVXeIyz";
inline constexpr std::string_view test_valued = "tsinwORTMDrmEHxdW";

// Applies one of the letters above; throws usage_error for a wrong value.
void apply_test_option(test_params& params, const found_option& option, option_scanner& scanner);

// Applies a line of options. Throws usage_error, also for operands.
void apply_test_words(test_params& params, std::span<const std::string> words);

// Returns words that apply_test_words() converts back to the same parameters.
[[nodiscard]] std::vector<std::string> to_words(const test_params& params);

// Throws usage_error when options contradict each other or no test is named.
void check(const test_params& params);

}  // namespace tools::perf
