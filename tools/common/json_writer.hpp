// Writes JSON (RFC 8259), one member a line.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include "ucs/type/utf8.hpp"

namespace tools {

constexpr std::size_t indentation = 2;
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

inline std::string escaped(char byte) {
    switch (byte) {
        case '"':
            return "\\\"";
        case '\\':
            return "\\\\";
        case '\n':
            return "\\n";
        case '\t':
            return "\\t";
        default:
            return static_cast<unsigned char>(byte) < 0x20
                       ? fmt::format("\\u{:04x}", static_cast<unsigned>(byte))
                       : std::string(1, byte);
    }
}

// Builds one document in the order of the calls: begin_object(), members and elements, end() for
// each object and array. Replaces invalid UTF-8; writes null for a number that is not finite.
class json_writer {
public:
    void begin_object() {
        begin_item();
        open('{', '}');
    }  // the document, or an element of an array
    void begin_object(std::string_view name) {
        begin_member(name);
        open('{', '}');
    }  // a member
    void begin_array(std::string_view name) {
        begin_member(name);
        open('[', ']');
    }
    void end() {
        const char closing = closing_.back();
        closing_.pop_back();
        if (!empty_) {
            text_ += '\n';
            text_.append(closing_.size() * indentation, ' ');
        }
        text_ += closing;
        empty_ = false;
        if (closing_.empty()) text_ += '\n';
    }  // the innermost object or array

    template<class Value>
    void member(std::string_view name, const Value& value) {
        begin_member(name);
        write(value);
    }
    template<class Value>
    void element(const Value& value) {
        begin_item();
        write(value);
    }

    // Returns the document, which is complete after the last end().
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    void begin_item() {
        if (closing_.empty()) return;
        text_ += empty_ ? "\n" : ",\n";
        text_.append(closing_.size() * indentation, ' ');
        empty_ = false;
    }
    void begin_member(std::string_view name) {
        begin_item();
        write(name);
        text_ += ": ";
    }
    void open(char bracket, char closing) {
        text_ += bracket;
        closing_ += closing;
        empty_ = true;
    }
    void write(std::string_view value) {
        text_ += '"';
        while (!value.empty()) {
            const std::size_t length = ucs::utf8_length(value);
            if (length == 0) {
                text_ += replacement;
            } else if (length == 1) {
                text_ += escaped(value.front());
            } else {
                text_ += value.substr(0, length);
            }
            value.remove_prefix(length == 0 ? 1 : length);
        }
        text_ += '"';
    }
    void write(const char* value) { write(std::string_view(value)); }
    void write(bool value) { text_ += value ? "true" : "false"; }
    void write(std::nullptr_t) { text_ += "null"; }
    void write(double value) { text_ += std::isfinite(value) ? fmt::format("{}", value) : "null"; }
    void write(std::integral auto value) { text_ += std::to_string(value); }

    std::string text_;
    std::string closing_;  // the bracket that ends each level
    bool empty_ = true;    // the innermost level has no items yet
};

}  // namespace tools
