#include "tools/common/json_writer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ucs/type/utf8.hpp"

namespace tools {
namespace {

constexpr std::size_t indentation = 2;
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

std::string escaped(char byte) {
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

}  // namespace

void json_writer::begin_item() {
    if (closing_.empty()) return;
    text_ += empty_ ? "\n" : ",\n";
    text_.append(closing_.size() * indentation, ' ');
    empty_ = false;
}

void json_writer::begin_member(std::string_view name) {
    begin_item();
    write(name);
    text_ += ": ";
}

void json_writer::open(char bracket, char closing) {
    text_ += bracket;
    closing_ += closing;
    empty_ = true;
}

void json_writer::begin_object() {
    begin_item();
    open('{', '}');
}

void json_writer::begin_object(std::string_view name) {
    begin_member(name);
    open('{', '}');
}

void json_writer::begin_array(std::string_view name) {
    begin_member(name);
    open('[', ']');
}

void json_writer::end() {
    const char closing = closing_.back();
    closing_.pop_back();
    if (!empty_) {
        text_ += '\n';
        text_.append(closing_.size() * indentation, ' ');
    }
    text_ += closing;
    empty_ = false;
    if (closing_.empty()) text_ += '\n';
}

void json_writer::write(std::string_view value) {
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

void json_writer::write(double value) {
    text_ += std::isfinite(value) ? fmt::format("{}", value) : "null";
}

}  // namespace tools
