// Error texts for mistyped names: the valid names and the probable one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tools {

// Returns the candidate that differs least from `name`; empty if a third of the letters or more
// differ, because that is another word and not a typing error.
[[nodiscard]] std::string_view nearest(std::string_view name,
                                       std::span<const std::string_view> candidates);

// `"rign" is none of: ring, tree, star; did you mean "ring"?`; "neither ring nor tree" for two.
[[nodiscard]] std::string none_of(std::string_view name,
                                  std::span<const std::string_view> candidates);

}  // namespace tools
