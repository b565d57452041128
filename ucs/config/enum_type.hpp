// Options whose value is one of several names.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "ucs/config/option.hpp"
#include "ucs/config/text.hpp"

namespace ucs::config {

template<class Enum>
struct enum_name {
    const char* name;
    Enum value;
};

// Several values of an enumeration, each as the bit with its number.
template<class Enum>
struct enum_set {
    unsigned bits = 0;

    static constexpr unsigned bit(Enum value) noexcept {
        return 1U << static_cast<unsigned>(value);
    }
};

namespace detail {

// Returns the entry of an array of names, or null.
template<const auto& Names>
auto find_entry(std::string_view name) noexcept -> decltype(&Names[0]) {
    for (const auto& entry : Names) {
        if (same_text(entry.name, trim(name))) return &entry;
    }
    return nullptr;
}

template<const auto& Names>
std::string list_names(std::string text) {
    for (const auto& entry : Names)
        (text += ' ') += entry.name;
    return text;
}

}  // namespace detail

// The value type of an enumeration, made from a constexpr array of its names:
//
//     inline constexpr ucs::config::enum_name<color> color_names[] = {{"red", color::red}, …};
//     template <>
//     inline const value_type& value_type_of<color>() { return enum_type<color_names>(); }
//
// Matching ignores case. If a value has several names, the first one is printed.
template<const auto& Names>
const value_type& enum_type() {
    using plain = std::remove_const_t<decltype(Names[0].value)>;
    static const std::string expected = detail::list_names<Names>("one of:");
    static const value_type type{expected.c_str(),
                                 [](std::string_view text, void* field) {
                                     const auto* const entry = detail::find_entry<Names>(text);
                                     if (entry == nullptr) return UCS_ERR_INVALID_PARAM;
                                     *static_cast<plain*>(field) = entry->value;
                                     return UCS_OK;
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

// The same for an enum_set, whose text is a list of at least one name.
template<const auto& Names>
const value_type& enum_set_type() {
    using set = enum_set<std::remove_const_t<decltype(Names[0].value)>>;
    static const std::string expected =
        detail::list_names<Names>("names separated by commas, each one of:");
    static const value_type type{
        expected.c_str(),
        [](std::string_view text, void* field) {
            set found;
            for (const std::string& name : split(text, ',')) {
                const auto* const entry = detail::find_entry<Names>(name);
                if (entry == nullptr) return UCS_ERR_INVALID_PARAM;
                found.bits |= set::bit(entry->value);
            }
            if (found.bits == 0) return UCS_ERR_INVALID_PARAM;
            *static_cast<set*>(field) = found;
            return UCS_OK;
        },
        [](const void* field) {
            std::string text;
            for (const auto& entry : Names) {
                if ((static_cast<const set*>(field)->bits & set::bit(entry.value)) == 0) continue;
                if (!text.empty()) text += ',';
                text += entry.name;
            }
            return text;
        }};
    return type;
}

}  // namespace ucs::config
