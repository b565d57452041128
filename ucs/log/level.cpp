#include "ucs/log/level.hpp"

#include <strings.h>

#include <array>

namespace ucs::log {
namespace {

constexpr std::array<const char*, 12> names{"fatal", "error", "warn", "diag",  "info", "debug",
                                            "trace", "req",   "data", "async", "func", "poll"};

bool same(std::string_view left, std::string_view right) noexcept {
    return left.size() == right.size() &&
           ::strncasecmp(left.data(), right.data(), left.size()) == 0;
}

std::string_view trim(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

// "ucp" covers "ucp" and "ucp.wireup" but not "ucpx"; the empty pattern covers everything.
bool covers(std::string_view pattern, std::string_view name) noexcept {
    return pattern.empty() || (name.starts_with(pattern) &&
                               (name.size() == pattern.size() || name[pattern.size()] == '.'));
}

}  // namespace

std::optional<level> parse_level(std::string_view text) noexcept {
    text = trim(text);
    if (text.starts_with("trace_")) text.remove_prefix(6);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (same(text, names[i])) return static_cast<level>(i);
    }
    return std::nullopt;
}

const char* level_name(level severity) noexcept {
    const auto index = static_cast<std::size_t>(severity);
    return index < names.size() ? names[index] : "unknown";
}

std::optional<level_map> level_map::parse(std::string_view text) {
    level_map map;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view item = trim(text.substr(0, comma));
        const std::size_t colon = item.find(':');
        const auto limit = parse_level(colon == item.npos ? item : item.substr(colon + 1));
        if (!limit) return std::nullopt;
        if (colon == item.npos) {
            map.everything_ = *limit;
        } else {
            std::string_view component = trim(item.substr(0, colon));
            if (component.ends_with('*')) component.remove_suffix(1);
            if (component.ends_with('.')) component.remove_suffix(1);
            map.rules_.push_back({std::string(component), *limit});
        }
        if (comma == text.npos) return map;
        text.remove_prefix(comma + 1);
    }
}

level level_map::of(std::string_view component_name) const noexcept {
    level best = everything_;
    std::size_t length = 0;
    for (const rule& candidate : rules_) {
        if (candidate.component.size() >= length && covers(candidate.component, component_name)) {
            best = candidate.limit;
            length = candidate.component.size();
        }
    }
    return best;
}

}  // namespace ucs::log
