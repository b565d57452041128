#include "tools/perf/reporter.hpp"

#include <cstdio>

namespace tools::perf {

void reporter::print(const std::string& text) {
    if (text.empty()) return;
    const std::lock_guard lock(printing_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void reporter::header(quantity what, double rank, const std::vector<std::string>& batch_files) {
    print(table_header(style_, what, rank, batch_files));
}

void reporter::begin_test(const std::vector<std::string>& names) {
    print(batch_title(style_, names));
}

void reporter::progress(unsigned thread, const measurement& row) {
    print(progress_row(style_, thread, row));
}

void reporter::final(unsigned threads, const std::vector<std::string>& names,
                     const measurement& row, const std::string& extra_info) {
    print(final_row(style_, threads, names, row, extra_info));
}

}  // namespace tools::perf
