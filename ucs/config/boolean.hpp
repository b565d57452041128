// How an option says yes or no.
#pragma once

#include <optional>
#include <string_view>

namespace ucs::config {

// What a right text looks like, for messages.
inline constexpr const char* boolean_form = "y or n (also yes, no, on, off, 1, 0, true, false)";

// Letters of either case; blanks around it do not count. Nothing: it is neither.
[[nodiscard]] std::optional<bool> parse_bool(std::string_view text) noexcept;

}  // namespace ucs::config
