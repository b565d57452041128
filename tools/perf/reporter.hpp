// Prints the table of results.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "tools/perf/core/meter.hpp"
#include "tools/perf/core/table.hpp"

namespace tools::perf {

// Prints whole lines to stdout and flushes them. Owned by the client; rows come from any thread.
class reporter final : public row_sink {
public:
    explicit reporter(const table_style& style) noexcept : style_(style) {}

    void header(quantity what, double rank, const std::vector<std::string>& batch_files);
    void begin_test(const std::vector<std::string>& names);
    void progress(unsigned thread, const measurement& row) override;
    void final(unsigned threads, const std::vector<std::string>& names, const measurement& row,
               const std::string& extra_info);

    [[nodiscard]] const table_style& style() const noexcept { return style_; }

private:
    void print(const std::string& text);

    const table_style style_;
    std::mutex printing_;
};

}  // namespace tools::perf
