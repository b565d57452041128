// The range of values that an option accepts.
#pragma once

#include <string>
#include <string_view>

#include "ucs/type/status.h"

namespace ucs::config {

struct option;

// Bounds are texts in the form of the option's values. Made by at_least() or between(); the default
// accepts every value of the type, including "inf" and "auto".
struct range {
    const char* lowest = nullptr;   // null: no bound
    const char* highest = nullptr;  // null: no bound
    bool limited = false;           // a value above `highest` is valid and reduced to `highest`
    bool infinite = true;           // accepts "inf", regardless of `highest`
    bool automatic = true;          // accepts "auto"

    [[nodiscard]] constexpr range or_inf() const noexcept {
        return {lowest, highest, limited, true, automatic};
    }
    [[nodiscard]] constexpr range or_auto() const noexcept {
        return {lowest, highest, limited, infinite, true};
    }
    // For values that OpenUCX accepts and this library does not support. The log reports once which
    // value is used.
    [[nodiscard]] constexpr range or_limited() const noexcept {
        return {lowest, highest, true, infinite, automatic};
    }
};

[[nodiscard]] constexpr range at_least(const char* lowest) noexcept {
    return {lowest, nullptr, false, true, false};
}
[[nodiscard]] constexpr range between(const char* lowest, const char* highest) noexcept {
    return {lowest, highest, false, false, false};
}

enum class verdict { good, limited, refused };

// Parses a text into `field` according to the option's type and range. A refused text may still
// change the field.
verdict take(const option& entry, std::string_view text, void* field);

// Returns a description of valid values, for help and error texts.
[[nodiscard]] std::string expected_form(const option& entry);

}  // namespace ucs::config
