// The text of the result table and of its CSV form.
#pragma once

#include <string>
#include <vector>

#include "tools/common/standard_options.hpp"
#include "tools/perf/core/measurement.hpp"

namespace tools::perf {

// How results are shown.
struct table_style {
    bool final_only = false;               // -f
    output_form form = output_form::text;  // -v, --csv, --json
    bool thousands = false;                // -N
    bool quiet = false;                    // -q

    // The table for people, with a title above the rows of each test and rows while it runs.
    [[nodiscard]] bool is_full_table() const noexcept {
        return form == output_form::text && !final_only;
    }
};

// Pure text, line by line what scripts for ucx_perftest read. Names of a batch: one per file.
[[nodiscard]] std::string table_header(const table_style& style, quantity what, double rank,
                                       const std::vector<std::string>& batch_files);

// The line above the rows of one test of a batch, with its place among all, such as "3 of 96";
// empty where there is none.
[[nodiscard]] std::string batch_title(const table_style& style,
                                      const std::vector<std::string>& names,
                                      const std::string& place);

// A row of thread `thread` while the test runs; empty where none is shown.
[[nodiscard]] std::string progress_row(const table_style& style, unsigned thread,
                                       const measurement& result);

// The row at the end. With several threads, percentile and averages are left out.
[[nodiscard]] std::string final_row(const table_style& style, unsigned threads,
                                    const std::vector<std::string>& names,
                                    const measurement& result, const std::string& extra_info);

// What the server prints about a test. `closed` draws the lower edge.
struct box_content {
    std::string test_title;
    std::size_t message_size = 0;
    std::string batch_label;
    std::string api = "protocol layer";
    std::string data_layout = "(automatic)";
};
[[nodiscard]] std::string server_box(const box_content& content, bool closed);

}  // namespace tools::perf
