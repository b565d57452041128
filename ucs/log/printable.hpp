// Texts of peers, for terminals and log files.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace ucs::log {

// Appends the text so that it drives no terminal and begins no line: the bytes of control
// characters but the tab, also of those above 0x7f (C1), and bytes that are no UTF-8, are written
// as \xNN.
void append_printable(fmt::memory_buffer& into, std::string_view text);

// Returns the text as append_printable writes it.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace ucs::log
