// Answers a mistyped name with the names that there are and with the one that was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tools {

// The candidate that differs least from `name`; empty when a third of the letters or more differ,
// because that is another word and not a slip.
[[nodiscard]] std::string_view nearest(std::string_view name,
                                       std::span<const std::string_view> candidates);

// `"rign" is none of: ring, tree; did you mean "ring"?`
[[nodiscard]] std::string none_of(std::string_view name,
                                  std::span<const std::string_view> candidates);

}  // namespace tools
