// The shape of a log line.
#pragma once

#include <fmt/format.h>

#include "ucs/log/log.hpp"

namespace ucs::log {

// Appends "[seconds.microseconds] [host:pid:tid] component LEVEL text\n", one such line for each
// line of `text`, which append_printable writes: part of it may be a peer's.
void format_lines(fmt::memory_buffer& into, const component& source, level severity,
                  std::string_view text);

}  // namespace ucs::log
