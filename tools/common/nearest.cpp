#include "tools/common/nearest.hpp"

#include <fmt/format.h>

#include "ucs/config/edit_distance.hpp"

namespace tools {

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
    std::size_t best = name.size() / 3 + 1;
    std::string_view found;
    for (const std::string_view each : candidates) {
        const std::size_t distance = ucs::config::edit_distance(name, each);
        if (distance >= best) continue;
        best = distance;
        found = each;
    }
    return found;
}

std::string none_of(std::string_view name, std::span<const std::string_view> candidates) {
    std::string text = fmt::format("\"{}\" is none of: {}", name, fmt::join(candidates, ", "));
    const std::string_view close = nearest(name, candidates);
    if (!close.empty()) text += fmt::format("; did you mean \"{}\"?", close);
    return text;
}

}  // namespace tools
