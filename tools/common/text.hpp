// Parses numbers and lists of command lines and files, and finds the names that mistyped ones mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tools {

// Each parser parses the whole text. It returns nullopt for extra characters, a sign, or a value
// out of range.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text) noexcept;

// Parses bytes, with a suffix k, m, g or t (powers of 1024) and an optional b: "8", "64k", "1mb".
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

// A finite decimal number.
[[nodiscard]] std::optional<double> parse_real(std::string_view text) noexcept;

// "a,b,,c" gives four pieces, an empty text gives one empty piece.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// Returns the words between blanks and tabs.
[[nodiscard]] std::vector<std::string_view> words(std::string_view line);

// 1234567 gives "1,234,567".
[[nodiscard]] std::string with_thousands(std::uint64_t value);

// Returns the candidate that differs least from `name`; empty if a third of the letters or more
// differ, because that is another word and not a typing error.
[[nodiscard]] std::string_view nearest(std::string_view name,
                                       std::span<const std::string_view> candidates);

// `"rign" is none of: ring, tree, star; did you mean "ring"?`; "neither ring nor tree" for two.
[[nodiscard]] std::string none_of(std::string_view name,
                                  std::span<const std::string_view> candidates);

}  // namespace tools
