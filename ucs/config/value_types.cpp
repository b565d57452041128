// Parsing and printing of each basic member type.
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "ucs/config/option.hpp"
#include "ucs/config/text.hpp"
#include "ucs/config/units.hpp"
#include "ucs/log/level.hpp"

namespace ucs::config {
namespace {

template<class T>
ucs_status_t store(void* field, std::optional<T> value) {
    if (!value) return UCS_ERR_INVALID_PARAM;
    *static_cast<T*>(field) = std::move(*value);
    return UCS_OK;
}

// Parses a value with a unit into a type that wraps a number.
template<class Value, auto Parse>
ucs_status_t parse_unit(std::string_view text, void* field) {
    const auto number = Parse(text);
    return store(field, number ? std::optional(Value{*number}) : std::nullopt);
}

template<class T>
const T& get(const void* field) {
    return *static_cast<const T*>(field);
}

template<class T>
std::optional<T> parse_number(std::string_view text) {
    text = trim(text);
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

template<class T>
std::optional<T> parse_unsigned(std::string_view text) {
    if (same_text(trim(text), "inf")) return std::numeric_limits<T>::max();
    return parse_number<T>(text);
}

template<class T>
std::string print_unsigned(const void* field) {
    const T value = get<T>(field);
    return value == std::numeric_limits<T>::max() ? "inf" : fmt::format("{}", value);
}

// Conversions for `value_type::measure`. The texts are known to be valid.
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double automatic = std::numeric_limits<double>::quiet_NaN();

template<class T>
double measure_number(std::string_view text) {
    return static_cast<double>(parse_number<T>(text).value_or(T{}));
}

template<class T>
double measure_unsigned(std::string_view text) {
    const T value = parse_unsigned<T>(text).value_or(0);
    return value == std::numeric_limits<T>::max() ? infinite : static_cast<double>(value);
}

double measure_bytes(std::string_view text) {
    const memunits size{parse_bytes(text).value_or(0)};
    if (size.is_auto()) return automatic;
    return size.is_inf() ? infinite : static_cast<double>(size.bytes);
}

double measure_seconds(std::string_view text) {
    return parse_seconds(text).value_or(0);
}

double measure_rate(std::string_view text) {
    return parse_rate(text).value_or(0);
}

std::optional<auto_count> parse_auto_count(std::string_view text) {
    if (same_text(trim(text), "auto")) return auto_count{};
    const auto value = parse_number<unsigned>(text);
    if (!value || *value == auto_count::automatic) return std::nullopt;
    return auto_count{*value};
}

double measure_auto_count(std::string_view text) {
    const auto_count count = parse_auto_count(text).value_or(auto_count{0});
    return count.is_auto() ? automatic : count.value;
}

std::optional<ternary> parse_ternary(std::string_view text) {
    if (same_text(trim(text), "try")) return ternary::try_;
    if (same_text(trim(text), "auto")) return ternary::automatic;
    const auto flag = parse_bool(text);
    if (!flag) return std::nullopt;
    return *flag ? ternary::yes : ternary::no;
}

std::string print_ternary(const void* field) {
    switch (get<ternary>(field)) {
        case ternary::no:
            return "n";
        case ternary::yes:
            return "y";
        case ternary::try_:
            return "try";
        case ternary::automatic:
            break;
    }
    return "auto";
}

std::optional<names> parse_names(std::string_view text) {
    names parsed = split(text, ',');
    for (const std::string& name : parsed) {
        if (name.empty()) return std::nullopt;
    }
    return parsed;
}

std::string join(const names& list) {
    return fmt::format("{}", fmt::join(list, ","));
}

std::optional<allow_list> parse_allow_list(std::string_view text) {
    text = trim(text);
    allow_list parsed;
    if (text.starts_with('^')) {
        parsed.negated = true;
        text.remove_prefix(1);
    }
    auto listed = parse_names(text);
    if (!listed || listed->empty()) return std::nullopt;
    parsed.names = std::move(*listed);
    return parsed;
}

}  // namespace

template<>
const value_type& value_type_of<bool>() {
    static constexpr value_type type{
        boolean_form,
        [](std::string_view text, void* field) { return store(field, parse_bool(text)); },
        [](const void* field) { return std::string(get<bool>(field) ? "y" : "n"); }};
    return type;
}

template<>
const value_type& value_type_of<int>() {
    static constexpr value_type type{
        "an integer",
        [](std::string_view text, void* field) { return store(field, parse_number<int>(text)); },
        [](const void* field) { return fmt::format("{}", get<int>(field)); }, measure_number<int>};
    return type;
}

template<>
const value_type& value_type_of<unsigned>() {
    static constexpr value_type type{"a non-negative integer",
                                     [](std::string_view text, void* field) {
                                         return store(field, parse_unsigned<unsigned>(text));
                                     },
                                     print_unsigned<unsigned>, measure_unsigned<unsigned>, true};
    return type;
}

template<>
const value_type& value_type_of<std::size_t>() {
    static constexpr value_type type{"a non-negative integer",
                                     [](std::string_view text, void* field) {
                                         return store(field, parse_unsigned<std::size_t>(text));
                                     },
                                     print_unsigned<std::size_t>, measure_unsigned<std::size_t>,
                                     true};
    return type;
}

template<>
const value_type& value_type_of<auto_count>() {
    static constexpr value_type type{
        "a non-negative integer",
        [](std::string_view text, void* field) { return store(field, parse_auto_count(text)); },
        [](const void* field) {
            const auto& count = get<auto_count>(field);
            return count.is_auto() ? std::string("auto") : fmt::format("{}", count.value);
        },
        measure_auto_count,
        false,
        true};
    return type;
}

template<>
const value_type& value_type_of<double>() {
    static constexpr value_type type{
        "a number",
        [](std::string_view text, void* field) { return store(field, parse_number<double>(text)); },
        [](const void* field) { return fmt::format("{}", get<double>(field)); },
        measure_number<double>};
    return type;
}

template<>
const value_type& value_type_of<std::string>() {
    static constexpr value_type type{"any text",
                                     [](std::string_view text, void* field) {
                                         return store(field, std::optional(std::string(text)));
                                     },
                                     [](const void* field) { return get<std::string>(field); }};
    return type;
}

template<>
const value_type& value_type_of<secret_text>() {
    static constexpr value_type type{
        "any text; it is not printed",
        [](std::string_view text, void* field) {
            return store(field, std::optional(secret_text{std::string(text)}));
        },
        [](const void* field) {
            return std::string(get<secret_text>(field).text.empty() ? "" : hidden_value);
        }};
    return type;
}

template<>
const value_type& value_type_of<memunits>() {
    static constexpr value_type type{
        "a number of bytes with an optional unit (8192, 8k, 1.5m, 2gb)",
        parse_unit<memunits, parse_bytes>,
        [](const void* field) { return print_bytes(get<memunits>(field).bytes); },
        measure_bytes,
        true,
        true};
    return type;
}

template<>
const value_type& value_type_of<duration>() {
    static constexpr value_type type{
        "a time with an optional unit (1.5s, 10ms, 5us, 100ns, 1m, 1h; plain: seconds)",
        parse_unit<duration, parse_seconds>,
        [](const void* field) { return print_seconds(get<duration>(field).seconds); },
        measure_seconds,
        true,
        true};
    return type;
}

template<>
const value_type& value_type_of<rate>() {
    static constexpr value_type type{
        "a number of bytes per second with a unit (12179MBs, 10GB/s; 100Gbps: bits)",
        parse_unit<rate, parse_rate>,
        [](const void* field) { return print_rate(get<rate>(field).bytes_per_second); },
        measure_rate,
        false,
        true};
    return type;
}

template<>
const value_type& value_type_of<ternary>() {
    static constexpr value_type type{
        "y, n, try or auto",
        [](std::string_view text, void* field) { return store(field, parse_ternary(text)); },
        print_ternary};
    return type;
}

template<>
const value_type& value_type_of<allow_list>() {
    static constexpr value_type type{
        "names separated by commas, ^ before the first for all but these, or all",
        [](std::string_view text, void* field) { return store(field, parse_allow_list(text)); },
        [](const void* field) {
            const auto& list = get<allow_list>(field);
            return (list.negated ? "^" : "") + join(list.names);
        }};
    return type;
}

template<>
const value_type& value_type_of<names>() {
    static constexpr value_type type{
        "names separated by commas",
        [](std::string_view text, void* field) { return store(field, parse_names(text)); },
        [](const void* field) { return join(get<names>(field)); }};
    return type;
}

template<>
const value_type& value_type_of<log::level>() {
    static constexpr value_type type{
        "fatal, error, warn, diag, info, debug, trace, req, data, async, func or poll",
        [](std::string_view text, void* field) { return store(field, log::parse_level(text)); },
        [](const void* field) { return std::string(log::level_name(get<log::level>(field))); }};
    return type;
}

}  // namespace ucs::config
