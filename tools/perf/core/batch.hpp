// Batch files have one named test per line. Several files give every combination of their lines.
#pragma once

#include <span>
#include <string_view>

#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

// One line: "name options...".
struct batch_line {
    std::string name;
    std::vector<std::string> words;
    unsigned line_number = 0;
};

struct batch_file {
    std::string path;
    std::string title;  // the file's name without folders
    std::vector<batch_line> lines;
};

// A test to run, and its names: one per batch file, none without batch files.
struct test_case {
    std::vector<std::string> names;
    test_params params;
};

// Parses the lines of a batch file. Skips blank lines and lines that begin with '#'.
[[nodiscard]] std::vector<batch_line> parse_batch(std::string_view text);

// Reads a file of at most a megabyte. Throws usage_error if it cannot be read or has no test.
[[nodiscard]] batch_file read_batch(const std::string& path);

// Returns every combination of one line of each file on top of `base`; the last file varies
// fastest. `overrides` are test options that override those of the files. Checks all tests; throws
// usage_error with file and line.
[[nodiscard]] std::vector<test_case> combine(const test_params& base,
                                             std::span<const batch_file> files,
                                             std::span<const std::string> overrides = {});

}  // namespace tools::perf
