// Shows the progress of a run of many rows on the error output: "row 3 of 96".
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace tools {

// On a terminal one line that changes in place; otherwise a line for each row. One thread uses it.
class row_counter {
public:
    // A `quiet` counter counts and prints nothing.
    row_counter(std::string tool, std::size_t rows, bool quiet)
        : tool_(std::move(tool)),
          rows_(rows),
          quiet_(quiet),
          on_terminal_(::isatty(STDERR_FILENO) != 0) {}
    ~row_counter() { clear(); }
    row_counter(const row_counter&) = delete;
    row_counter& operator=(const row_counter&) = delete;

    // Begins the next row, with this name.
    void next(std::string_view name) {
        skip();
        if (quiet_) return;
        clear();
        fmt::print(stderr, "{}: row {}: {}{}", tool_, place(), name, on_terminal_ ? "" : "\n");
        std::fflush(stderr);
        shown_ = on_terminal_;
    }
    // Counts a row without output: the caller shows place() itself.
    void skip() noexcept { ++row_; }
    // Clears the line, so that the row itself can be printed there.
    void clear() {
        if (!std::exchange(shown_, false)) return;
        fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
    }

    // "3 of 96".
    [[nodiscard]] std::string place() const { return fmt::format("{} of {}", row_, rows_); }

private:
    const std::string tool_;
    const std::size_t rows_;
    const bool quiet_;
    const bool on_terminal_;
    std::size_t row_ = 0;
    bool shown_ = false;
};

}  // namespace tools
