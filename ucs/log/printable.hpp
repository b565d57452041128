// Escapes untrusted texts for terminals and log files.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace ucs::log {

// Appends the text so that it can neither control a terminal nor begin a new line. The bytes of
// control characters (including C1, except the tab), and bytes that are not UTF-8, are written as
// \xNN.
void append_printable(fmt::memory_buffer& into, std::string_view text);

// Returns the text as append_printable writes it.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace ucs::log
