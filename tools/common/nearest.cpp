#include "tools/common/nearest.hpp"

#include <fmt/format.h>

#include "ucs/config/edit_distance.hpp"

namespace tools {

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
    ucs::config::nearest_match match(name);
    for (const std::string_view each : candidates)
        match.consider(each);
    return match.found();
}

std::string none_of(std::string_view name, std::span<const std::string_view> candidates) {
    std::string text =
        candidates.size() == 2
            ? fmt::format("\"{}\" is neither {}", name, fmt::join(candidates, " nor "))
            : fmt::format("\"{}\" is none of: {}", name, fmt::join(candidates, ", "));
    const std::string_view close = nearest(name, candidates);
    if (!close.empty()) text += fmt::format("; did you mean \"{}\"?", close);
    return text;
}

}  // namespace tools
