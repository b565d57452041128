// Small text functions for option values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ucs::config {

[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

// ASCII letters of either case are equal.
[[nodiscard]] bool same_text(std::string_view left, std::string_view right) noexcept;

// The trimmed parts between `separator`s; no parts for an empty text.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

// A description of valid texts, for messages.
inline constexpr const char* boolean_form = "y or n (also yes, no, on, off, 1, 0, true, false)";

// Parses a boolean; ignores case and blanks around it. Returns nullopt for other texts.
[[nodiscard]] std::optional<bool> parse_bool(std::string_view text) noexcept;

}  // namespace ucs::config
