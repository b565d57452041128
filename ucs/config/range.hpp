// Which of the values that its type can write an option takes.
#pragma once

#include <string>
#include <string_view>

#include "ucs/type/status.h"

namespace ucs::config {

struct option;

// Bounds are texts, written like the option's values. Made by at_least or between; the default
// takes everything that the type can write, "inf" and "auto" included.
struct range {
    const char* lowest = nullptr;   // null: no bound
    const char* highest = nullptr;  // null: no bound
    bool limited = false;           // what is above `highest` is legal and taken as `highest`
    bool infinite = true;           // takes "inf"; below `highest`, whatever that is
    bool automatic = true;          // takes "auto"

    [[nodiscard]] constexpr range or_inf() const noexcept {
        return {lowest, highest, limited, true, automatic};
    }
    [[nodiscard]] constexpr range or_auto() const noexcept {
        return {lowest, highest, limited, infinite, true};
    }
    // For values that other libraries of the family take and this one cannot do. The log says
    // once what is used.
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

// Reads a text into `field` as the option's type and range have it. A refused text may leave
// another value in the field.
verdict take(const option& which, std::string_view text, void* field);

// What a right value looks like, for help and error texts.
[[nodiscard]] std::string expected_form(const option& which);

}  // namespace ucs::config
