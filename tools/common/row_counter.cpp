#include "tools/common/row_counter.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace tools {

row_counter::row_counter(std::string tool, std::size_t rows, bool quiet)
    : tool_(std::move(tool)),
      rows_(rows),
      quiet_(quiet),
      on_terminal_(::isatty(STDERR_FILENO) != 0) {}

row_counter::~row_counter() {
    clear();
}

std::string row_counter::place() const {
    return fmt::format("{} of {}", row_, rows_);
}

void row_counter::next(std::string_view name) {
    skip();
    if (quiet_) return;
    clear();
    fmt::print(stderr, "{}: row {}: {}{}", tool_, place(), name, on_terminal_ ? "" : "\n");
    std::fflush(stderr);
    shown_ = on_terminal_;
}

void row_counter::clear() {
    if (!std::exchange(shown_, false)) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
}

}  // namespace tools
