// The options that describe a test: on the command line, in batch lines and from client to server;
// and which of them a test supports.
#pragma once

#include "tools/common/command_line.hpp"
#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

inline constexpr std::size_t max_pieces = 4096;
inline constexpr std::size_t max_message = std::size_t{1} << 40;

// "8", "64k", "16,48,8192", and "1024:16" for sixteen pieces of 1024 bytes. Throws usage_error
// that names the wrong piece. At most max_pieces pieces and max_message bytes.
[[nodiscard]] std::vector<std::size_t> parse_size_list(std::string_view text);

// The shortest text that parse_size_list reads back to the same list.
[[nodiscard]] std::string print_size_list(const std::vector<std::size_t>& sizes);

// Returns the options, which set `into`.
[[nodiscard]] std::vector<option_row> test_rows(test_params& into);

// Applies a line of options. Throws usage_error, also for operands.
void apply_test_words(test_params& params, std::span<const std::string> words);

// Returns words that apply_test_words() converts back to the same parameters.
[[nodiscard]] std::vector<std::string> to_words(test_params params);

// Throws usage_error when options contradict each other or no test is named.
void check(const test_params& params);

// The options that a family of tests accepts in addition to the common ones.
struct accepted_options {
    bool matching = false;       // -C -U
    bool header = false;         // -H
    bool extra_copy = false;     // -y
    bool receive_modes = false;  // -r recv_data
    bool handles = true;         // -z: all except atomics and tests of a transport
    bool transport = false;      // -x -d -W, -D short, bcopy or zcopy
    bool protocol = true;        // -T -M -e, -D iov: all except tests of a transport
};

// Throws usage_error for an option that the test does not accept, because it would have no effect.
void refuse_unsupported(const test_params& params, const accepted_options& accepted);

}  // namespace tools::perf
