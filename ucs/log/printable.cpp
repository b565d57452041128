#include "ucs/log/printable.hpp"

#include <iterator>

#include "ucs/type/utf8.hpp"

namespace ucs::log {
namespace {

// Returns whether `character`, one UTF-8 sequence, is a control character. Terminals obey the C1
// control characters, U+0080 to U+009F, like those of ASCII.
bool is_control(std::string_view character) noexcept {
    const auto first = static_cast<unsigned char>(character.front());
    if (character.size() == 1) return (first < 0x20 && first != '\t') || first == 0x7f;
    return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

void append_escaped(fmt::memory_buffer& into, std::string_view bytes) {
    for (const char each : bytes)
        fmt::format_to(std::back_inserter(into), "\\x{:02x}", static_cast<unsigned char>(each));
}

}  // namespace

void append_printable(fmt::memory_buffer& into, std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const std::string_view next = text.substr(0, length == 0 ? 1 : length);
        if (length == 0 || is_control(next)) {
            append_escaped(into, next);
        } else {
            into.append(next);
        }
        text.remove_prefix(next.size());
    }
}

std::string printable(std::string_view text) {
    fmt::memory_buffer written;
    append_printable(written, text);
    return fmt::to_string(written);
}

}  // namespace ucs::log
