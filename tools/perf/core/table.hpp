// Formats the result table and its CSV form.
#pragma once

#include "tools/common/command_line.hpp"
#include "tools/perf/core/meter.hpp"

namespace tools::perf {

// The format of the results.
struct table_style {
    bool final_only = false;               // -f
    output_form form = output_form::text;  // -v, --csv, --json
    bool thousands = false;                // -N
    bool quiet = false;                    // -q

    // Returns whether the output is the full table, with a title above each test and rows during
    // the run.
    [[nodiscard]] bool is_full_table() const noexcept {
        return form == output_form::text && !final_only;
    }
};

// The table functions return text, in the format that scripts for ucx_perftest parse. A batch has
// one name per file.
[[nodiscard]] std::string table_header(const table_style& style, quantity measured, double rank,
                                       const std::vector<std::string>& batch_files);

// Returns the line above the rows of a test of a batch, with its position, such as "3 of 96"; empty
// if the style has none.
[[nodiscard]] std::string batch_title(const table_style& style,
                                      const std::vector<std::string>& names,
                                      const std::string& position);

// Returns a row of thread `thread` during the run; empty if the style shows none.
[[nodiscard]] std::string progress_row(const table_style& style, unsigned thread,
                                       const measurement& result);

// Returns the final row. With several threads, it has no percentile and averages.
[[nodiscard]] std::string final_row(const table_style& style, unsigned threads,
                                    const std::vector<std::string>& names,
                                    const measurement& result, const std::string& extra_info);

// The description of a test that the server prints. `closed` draws the lower edge.
struct box_content {
    std::string test_title;
    std::size_t message_size = 0;
    std::string batch_label;
    std::string api = "protocol layer";
    std::string data_layout = "(automatic)";
};
[[nodiscard]] std::string server_box(const box_content& content, bool closed);

}  // namespace tools::perf
