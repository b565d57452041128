// What a client asks a server for: the content of a test frame.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

struct test_request {
    std::string label;  // of the test in its batch, for people
    test_params params;
};

// No honest word is longer: the longest list of sizes is a little shorter.
inline constexpr std::size_t longest_word = std::size_t{64} << 10;

[[nodiscard]] std::vector<std::byte> pack_request(const test_request& request);

// The words of a peer go through the same parser as a command line. What it throws names words,
// and is printed: so those that are too long or not printable are refused before. Throws failure
// or usage_error.
[[nodiscard]] test_request parse_request(std::span<const std::byte> content);

}  // namespace tools::perf
