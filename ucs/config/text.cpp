#include "ucs/config/text.hpp"

#include <algorithm>
#include <utility>

namespace ucs::config {
namespace {

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string_view trim(std::string_view text) noexcept {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool same_text(std::string_view left, std::string_view right) noexcept {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    if (trim(text).empty()) return parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.emplace_back(trim(text.substr(0, end)));
        if (end == text.npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<bool> parse_bool(std::string_view text) noexcept {
    for (const char* yes : {"y", "yes", "on", "1", "true"}) {
        if (same_text(trim(text), yes)) return true;
    }
    for (const char* no : {"n", "no", "off", "0", "false"}) {
        if (same_text(trim(text), no)) return false;
    }
    return std::nullopt;
}

}  // namespace ucs::config
