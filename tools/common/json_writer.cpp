#include "tools/common/json_writer.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tools {
namespace {

constexpr std::size_t indentation = 2;
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_continuation(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Smallest code point that needs a sequence of this length; a smaller one is written too long.
constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

std::size_t length_by_first_byte(unsigned char first) noexcept {
    if (first < 0x80) return 1;
    if ((first & 0xE0U) == 0xC0U) return 2;
    if ((first & 0xF0U) == 0xE0U) return 3;
    if ((first & 0xF8U) == 0xF0U) return 4;
    return 0;
}

// Length of the UTF-8 sequence at the beginning of `text`; 0: it is none.
std::size_t sequence_length(std::string_view text) noexcept {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = length_by_first_byte(first);
    if (length <= 1) return length;
    if (length > text.size()) return 0;
    char32_t code = first & (0x7FU >> length);
    for (const char byte : text.substr(1, length - 1)) {
        if (!is_continuation(byte)) return 0;
        code = (code << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < smallest[length] || surrogate || code > 0x10FFFF ? 0 : length;
}

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
        const std::size_t length = sequence_length(value);
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
