// Options whose value is one of several names.
#pragma once

#include <string>
#include <string_view>

#include "ucs/config/option.hpp"
#include "ucs/config/text.hpp"

namespace ucs::config {

template<class Enum>
struct enum_name {
    const char* name;
    Enum value;
};

// The value type of an enumeration, made from a constexpr array of its names:
//
//     inline constexpr ucs::config::enum_name<color> color_names[] = {{"red", color::red}, …};
//     template <>
//     inline const value_type& value_type_of<color>() { return enum_type<color_names>(); }
//
// Matching ignores case. If a value has several names, the first one is printed.
template<const auto& Names>
const value_type& enum_type() {
    using value = decltype(Names[0].value);
    using plain = std::remove_const_t<value>;
    static const std::string expected = [] {
        std::string text = "one of:";
        for (const auto& entry : Names)
            (text += ' ') += entry.name;
        return text;
    }();
    static const value_type type{expected.c_str(),
                                 [](std::string_view text, void* field) {
                                     for (const auto& entry : Names) {
                                         if (same_text(entry.name, trim(text))) {
                                             *static_cast<plain*>(field) = entry.value;
                                             return UCS_OK;
                                         }
                                     }
                                     return UCS_ERR_INVALID_PARAM;
                                 },
                                 [](const void* field) {
                                     for (const auto& entry : Names) {
                                         if (entry.value == *static_cast<const plain*>(field)) {
                                             return std::string(entry.name);
                                         }
                                     }
                                     return std::string("unknown");
                                 }};
    return type;
}

}  // namespace ucs::config
