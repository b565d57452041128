// Formats log lines.
#pragma once

#include <fmt/format.h>

#include "ucs/log/log.hpp"

namespace ucs::log {

// Appends "[seconds.microseconds] [host:pid:tid] component LEVEL text\n", one such line for each
// line of `text`. append_printable writes the text, because part of it may come from a peer.
void format_lines(fmt::memory_buffer& into, const component& source, level severity,
                  std::string_view text);

}  // namespace ucs::log
