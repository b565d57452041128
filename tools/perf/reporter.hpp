// Prints the results: the table, its CSV form, or the JSON document.
#pragma once

#include <mutex>

#include "tools/common/json_report.hpp"
#include "tools/common/row_counter.hpp"
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

// Prints whole lines to stdout and flushes them. Owned by the client. Any thread may report rows.
class reporter final : public row_sink {
public:
    reporter(const program_options& options, std::size_t tests);

    void header(quantity measured, double rank, const std::vector<std::string>& batch_files);
    void begin_test(const std::vector<std::string>& names);
    void progress(unsigned thread, const measurement& row) override;
    void final(const test_case& test, const measurement& row, const std::string& extra_info);

    // End the output. `error` is the reason why the run ended before its last test.
    void finish();
    void finish_after(const std::string& error);

    [[nodiscard]] const table_style& style() const noexcept { return style_; }

private:
    void print(const std::string& text);

    const table_style style_;
    row_counter counter_;
    std::optional<json_report> json_;
    std::mutex printing_;
};

}  // namespace tools::perf
