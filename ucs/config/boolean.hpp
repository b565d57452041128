// Parses boolean options.
#pragma once

#include <optional>
#include <string_view>

namespace ucs::config {

// A description of valid texts, for messages.
inline constexpr const char* boolean_form = "y or n (also yes, no, on, off, 1, 0, true, false)";

// Parses a boolean; ignores case and blanks around it. Returns nullopt for other texts.
[[nodiscard]] std::optional<bool> parse_bool(std::string_view text) noexcept;

}  // namespace ucs::config
