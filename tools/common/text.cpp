#include "tools/common/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "ucs/config/edit_distance.hpp"

namespace tools {
namespace {

// Returns the power of two of the unit, or nullopt for an unknown unit.
std::optional<unsigned> unit_shift(std::string_view unit) noexcept {
    if (!unit.empty() && (unit.back() == 'b' || unit.back() == 'B')) unit.remove_suffix(1);
    if (unit.empty()) return 0;
    constexpr std::string_view units = "kKmMgGtT";
    const std::size_t position = units.find(unit.front());
    if (unit.size() > 1 || position == std::string_view::npos) return std::nullopt;
    return static_cast<unsigned>(position / 2 + 1) * 10;
}

}  // namespace

std::optional<std::uint64_t> parse_count(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::optional<std::uint64_t> number = parse_count(text.substr(0, digits));
    const std::optional<unsigned> shift = unit_shift(text.substr(digits));
    if (!number || !shift) return std::nullopt;
    if (*number > (~std::uint64_t{0} >> *shift)) return std::nullopt;
    return *number << *shift;
}

std::optional<double> parse_real(std::string_view text) noexcept {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    for (;;) {
        const std::size_t position = text.find(separator);
        pieces.push_back(text.substr(0, position));
        if (position == std::string_view::npos) return pieces;
        text.remove_prefix(position + 1);
    }
}

std::vector<std::string_view> words(std::string_view line) {
    constexpr std::string_view blanks = " \t\r\n";
    std::vector<std::string_view> found;
    for (;;) {
        const std::size_t begin = line.find_first_not_of(blanks);
        if (begin == std::string_view::npos) return found;
        line.remove_prefix(begin);
        const std::size_t length = std::min(line.find_first_of(blanks), line.size());
        found.push_back(line.substr(0, length));
        line.remove_prefix(length);
    }
}

std::string with_thousands(std::uint64_t value) {
    std::string text = std::to_string(value);
    for (std::size_t position = text.size(); position > 3;) {
        position -= 3;
        text.insert(position, 1, ',');
    }
    return text;
}

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
