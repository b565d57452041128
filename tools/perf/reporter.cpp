#include "tools/perf/reporter.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "tools/perf/core/json_rows.hpp"

namespace tools::perf {

reporter::reporter(const program_options& options, std::size_t tests)
    : style_(options.style),
      counter_("ucx_perftest", tests, options.batch.empty() || style_.quiet) {
    if (style_.form != output_form::json) return;
    json_.emplace(run_conditions{"ucx_perftest", options.arguments, {loaded_libucp()}},
                  [&options](json_writer& into) { write_settings(into, options); });
}

void reporter::print(const std::string& text) {
    if (text.empty()) return;
    const std::lock_guard lock(printing_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void reporter::header(quantity measured, double rank, const std::vector<std::string>& batch_files) {
    print(table_header(style_, measured, rank, batch_files));
}

// The full table shows the position of the test in its title, so the row counter on stderr only
// counts.
void reporter::begin_test(const std::vector<std::string>& names) {
    if (style_.is_full_table()) {
        counter_.skip();
        print(batch_title(style_, names, counter_.place()));
    } else {
        counter_.next(fmt::format("{}", fmt::join(names, "/")));
    }
}

void reporter::progress(unsigned thread, const measurement& row) {
    print(progress_row(style_, thread, row));
}

void reporter::final(const test_case& test, const measurement& row, const std::string& extra_info) {
    counter_.clear();
    if (json_) {
        json_->add_row([&](json_writer& into) { write_row(into, test, row, extra_info); });
        return;
    }
    print(final_row(style_, test.params.threads, test.names, row, extra_info));
}

void reporter::finish() {
    if (json_) print(json_->finish());
}

void reporter::finish_after(const std::string& error) {
    counter_.clear();
    if (json_) print(json_->finish_after(error));
}

}  // namespace tools::perf
