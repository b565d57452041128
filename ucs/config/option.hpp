// Declaration of options: each settings struct has a typed table of pointers to its members.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ucs/config/range.hpp"
#include "ucs/type/result.hpp"

namespace ucs::log {
enum class level : std::uint8_t;
}

namespace ucs::config {

// Memory size: "8k", "64kb", "1m", plain bytes; "inf" and "auto" if the option allows them.
struct memunits {
    static constexpr std::size_t inf = ~std::size_t{0};
    static constexpr std::size_t automatic = ~std::size_t{0} - 1;
    std::size_t bytes = automatic;
    [[nodiscard]] bool is_auto() const noexcept { return bytes == automatic; }
    [[nodiscard]] bool is_inf() const noexcept { return bytes == inf; }
};

// Seconds: "10ms", "5us", "1.5s", "1m"; "inf" and "auto" as infinity and NaN.
struct duration {
    double seconds = 0;
};

// Bytes per second: "12179MBs", "10GB/s", "100Gbps" (a small b: bits), "12g"; "auto" as NaN.
struct rate {
    double bytes_per_second = 0;
    [[nodiscard]] double or_else(double otherwise) const noexcept {
        return std::isnan(bytes_per_second) ? otherwise : bytes_per_second;
    }
};

// A count, or "auto": the library or the system chooses.
struct auto_count {
    static constexpr unsigned automatic = ~0U;
    unsigned value = automatic;
    [[nodiscard]] bool is_auto() const noexcept { return value == automatic; }
};

enum class ternary { no, yes, try_, automatic };

// "a,b,c" allows, "^a,b" denies, "all" allows everything.
struct allow_list {
    bool negated = false;
    std::vector<std::string> names{"all"};

    // Returns whether the list allows `name`. The listed name "all" matches every name.
    [[nodiscard]] bool allows(std::string_view name) const noexcept {
        for (const std::string& listed : names) {
            if (listed == name || listed == "all") return !negated;
        }
        return negated;
    }
};

// "a,b,c"; the empty text gives no names.
using names = std::vector<std::string>;

// Functions that parse and print one member type. `parse` writes to `field` only on success.
struct value_type {
    const char* expected;  // description of valid values, without inf and auto
    ucs_status_t (*parse)(std::string_view text, void* field);
    std::string (*print)(const void* field);

    // Converts a valid text to a number, for comparison with the bounds of a range: infinity for
    // "inf", NaN for "auto". Null if the values have no order.
    double (*measure)(std::string_view text) = nullptr;
    bool knows_inf = false;
    bool knows_auto = false;
};

// Defined in value_types.cpp for: bool, int, unsigned, size_t, double, std::string, memunits,
// duration, rate, auto_count, ternary, allow_list, names, log level. Enumerations add their own
// specialisation.
template<class Member>
const value_type& value_type_of();

// One option, type erased: `field` finds the member inside the settings struct.
struct option {
    const char* name;           // without prefix: "RNDV_THRESH"
    const char* default_value;  // text, parsed like any other
    const char* help;           // full sentences
    const value_type* type;
    void* (*field)(void* settings);
    range allowed;
    bool hidden;

    // A name that several transports of a family share, "RC_TX_QUEUE_LEN" for
    // "RC_VERBS_TX_QUEUE_LEN". It applies if `name` is not set. Empty: there is none.
    std::string family_name{};

    [[nodiscard]] bool is_called(std::string_view text) const noexcept {
        return text == name || (!family_name.empty() && text == family_name);
    }

    // Parses a text without a settings struct. If `printed` is not null, it receives the printed
    // value.
    verdict (*check_as)(const option& self, std::string_view text, std::string* printed);

    [[nodiscard]] verdict check(std::string_view text, std::string* printed = nullptr) const {
        return check_as(*this, text, printed);
    }
};

// Makes an option of a member: make_option<&tcp_config::tx_segment>("TCP_TX_SEG_SIZE", "8k", "…").
template<auto Member>
option make_option(const char* name, const char* default_value, const char* help,
                   const range& allowed = {}, bool hidden = false) {
    return []<class Settings, class Value>(Value Settings::*, const char* n, const char* d,
                                           const char* h, const range& r, bool hide) {
        return option{
            n,
            d,
            h,
            &value_type_of<Value>(),
            [](void* settings) -> void* { return &(static_cast<Settings*>(settings)->*Member); },
            r,
            hide,
            {},
            [](const option& self, std::string_view text, std::string* printed) {
                Value value{};
                const verdict found = take(self, text, &value);
                if (found != verdict::refused && printed != nullptr) {
                    *printed = self.type->print(&value);
                }
                return found;
            }};
    }(Member, name, default_value, help, allowed, hidden);
}

// The options of one settings struct, with a title for the help text.
struct table {
    const char* title;
    std::vector<option> options;
};

// Returns the table with family names: an option whose name begins with `own` ("RC_VERBS_") can
// also be set by the name that begins with `family` ("RC_") instead.
[[nodiscard]] table with_family(table options, std::string_view own, std::string_view family);

// A value that is secret. Every text is valid, so no error message shows it, and printing shows
// only that there is a value.
struct secret_text {
    std::string text;
};

// Printed instead of the value of a secret option.
inline constexpr const char* hidden_value = "(hidden)";

template<>
const value_type& value_type_of<secret_text>();

}  // namespace ucs::config
