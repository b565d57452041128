// Batch files: one named test per line, several files combine to every combination of lines.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// A test to run and what it is called: one name per batch file, none without batch files.
struct test_case {
    std::vector<std::string> names;
    test_params params;
};

// Lines of a batch file; blank lines and lines that begin with '#' are left out.
[[nodiscard]] std::vector<batch_line> parse_batch(std::string_view text);

// Reads a file of at most a megabyte. Throws usage_error when it cannot be read or has no test.
[[nodiscard]] batch_file read_batch(const std::string& path);

// Every combination of one line of each file on top of `base`, the last file varying fastest.
// `lasting` are options of a test that outlive those of the files. All are checked; usage_error
// names file and line.
[[nodiscard]] std::vector<test_case> combine(const test_params& base,
                                             std::span<const batch_file> files,
                                             std::span<const std::string> lasting = {});

}  // namespace tools::perf
