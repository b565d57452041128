#include "ucs/config/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "ucs/config/option.hpp"
#include "ucs/config/text.hpp"

namespace ucs::config {
namespace {

struct unit {
    std::string_view name;
    double factor;
};

// Splits "1.5ms" into 1.5 and "ms".
std::optional<double> take_number(std::string_view& text) noexcept {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || !std::isfinite(value) || std::signbit(value)) return std::nullopt;
    text = trim(text.substr(static_cast<std::size_t>(end - text.data())));
    return value;
}

template<std::size_t Count>
std::optional<double> factor_of(const std::array<unit, Count>& units, std::string_view name) {
    for (const unit& candidate : units) {
        if (same_text(candidate.name, name)) return candidate.factor;
    }
    return std::nullopt;
}

constexpr double kilo = 1024;
constexpr std::array<unit, 12> byte_units{{{"", 1},
                                           {"b", 1},
                                           {"k", kilo},
                                           {"kb", kilo},
                                           {"m", kilo* kilo},
                                           {"mb", kilo* kilo},
                                           {"g", kilo* kilo* kilo},
                                           {"gb", kilo* kilo* kilo},
                                           {"t", kilo* kilo* kilo* kilo},
                                           {"tb", kilo* kilo* kilo* kilo},
                                           {"p", kilo* kilo* kilo* kilo* kilo},
                                           {"pb", kilo* kilo* kilo* kilo* kilo}}};
constexpr std::array<unit, 8> time_units{{{"", 1},
                                          {"s", 1},
                                          {"ms", 1e-3},
                                          {"us", 1e-6},
                                          {"ns", 1e-9},
                                          {"m", 60},
                                          {"min", 60},
                                          {"h", 3600}}};

}  // namespace

std::optional<std::size_t> parse_bytes(std::string_view text) noexcept {
    text = trim(text);
    if (same_text(text, "inf")) return memunits::inf;
    if (same_text(text, "auto")) return memunits::automatic;
    // Plain integers exactly: a double has only 53 bits.
    std::size_t exact = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
    if (error == std::errc{} && end == text.data() + text.size()) {
        return exact < memunits::automatic ? std::optional(exact) : std::nullopt;
    }
    const auto value = take_number(text);
    const auto factor = factor_of(byte_units, text);
    if (!value || !factor || *value * *factor >= 0x1p63) return std::nullopt;
    return static_cast<std::size_t>(*value * *factor);
}

std::string print_bytes(std::size_t bytes) {
    if (bytes == memunits::inf) return "inf";
    if (bytes == memunits::automatic) return "auto";
    constexpr std::string_view letters = "KMGTP";
    std::size_t step = 0;
    while (bytes != 0 && bytes % 1024 == 0 && step < letters.size()) {
        bytes /= 1024;
        ++step;
    }
    return step == 0 ? fmt::format("{}", bytes) : fmt::format("{}{}", bytes, letters[step - 1]);
}

std::optional<double> parse_seconds(std::string_view text) noexcept {
    text = trim(text);
    if (same_text(text, "inf")) return std::numeric_limits<double>::infinity();
    if (same_text(text, "auto")) return std::numeric_limits<double>::quiet_NaN();
    const auto value = take_number(text);
    const auto factor = factor_of(time_units, text);
    if (!value || !factor || !std::isfinite(*value * *factor)) return std::nullopt;
    return *value * *factor;
}

std::string print_seconds(double seconds) {
    if (std::isnan(seconds)) return "auto";
    if (std::isinf(seconds)) return "inf";
    if (seconds == 0 || seconds >= 1) return fmt::format("{:.9g}s", seconds);
    if (seconds >= 1e-3) return fmt::format("{:.9g}ms", seconds * 1e3);
    if (seconds >= 1e-6) return fmt::format("{:.9g}us", seconds * 1e6);
    return fmt::format("{:.9g}ns", seconds * 1e9);
}

std::optional<double> parse_rate(std::string_view text) noexcept {
    text = trim(text);
    if (same_text(text, "auto")) return std::numeric_limits<double>::quiet_NaN();
    double bits_per_unit = 8;
    for (const std::string_view per_second : {"ps", "/s", "s"}) {
        if (!text.ends_with(per_second)) continue;
        text.remove_suffix(per_second.size());
        if (!text.ends_with('b') && !text.ends_with('B')) return std::nullopt;
        if (text.back() == 'b') bits_per_unit = 1;
        break;
    }
    const auto bytes = parse_bytes(text);
    if (!bytes || *bytes >= memunits::automatic) return std::nullopt;
    return static_cast<double>(*bytes) * bits_per_unit / 8;
}

std::string print_rate(double bytes_per_second) {
    if (std::isnan(bytes_per_second)) return "auto";
    return print_bytes(static_cast<std::size_t>(bytes_per_second)) + "Bps";
}

}  // namespace ucs::config
