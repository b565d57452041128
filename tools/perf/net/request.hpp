// The request of a client to a server: the content of a test frame.
#pragma once

#include <span>

#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

struct test_request {
    std::string label;  // names of the test in its batch, for the output
    test_params params;
};

// The limit of a valid word: the longest list of sizes is a little shorter.
inline constexpr std::size_t longest_word = std::size_t{64} << 10;

[[nodiscard]] std::vector<std::byte> pack_request(const test_request& request);

// Parses the request of a peer with the parser of the command line. Its errors quote words and are
// printed, so words that are too long or not printable are refused first. Throws failure or
// usage_error.
[[nodiscard]] test_request parse_request(std::span<const std::byte> content);

}  // namespace tools::perf
