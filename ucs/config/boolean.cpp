#include "ucs/config/boolean.hpp"

#include "ucs/config/text.hpp"

namespace ucs::config {

std::optional<bool> parse_bool(std::string_view text) noexcept {
    for (const char* yes : {"y", "yes", "on", "1", "true"}) {
        if (same_text(trim(text), yes)) return true;
    }
    for (const char* no : {"n", "no", "off", "0", "false"}) {
        if (same_text(trim(text), no)) return false;
    }
    return std::nullopt;
}

}  // namespace ucs::config
