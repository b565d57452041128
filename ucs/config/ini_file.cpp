#include "ucs/config/ini_file.hpp"

#include <algorithm>

#include "ucs/config/text.hpp"

namespace ucs::config {
namespace {

bool is_option_name(std::string_view name) noexcept {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
}

// Filters ("CPU vendor", "DMI product name", …) have blanks in their names, options do not.
bool is_filter_name(std::string_view name) noexcept {
    return name.find(' ') != name.npos &&
           std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

bool filter_fits(std::string_view name, std::string_view text, const machine_facts& machine) {
    if (same_text(name, "CPU vendor")) return same_text(text, machine.cpu_vendor);
    if (same_text(name, "CPU model")) return same_text(text, machine.cpu_model);
    return false;
}

}  // namespace

ini_content parse_ini(std::string_view text, const machine_facts& machine) {
    ini_content content;
    bool in_section = false;
    bool applies = true;
    for (unsigned number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view line = trim(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        if (line.empty() || line.front() == '#' || line.front() == ';') continue;
        if (line.front() == '[' && line.back() == ']') {
            in_section = true;
            applies = true;
            continue;
        }
        const std::size_t equal = line.find('=');
        std::string_view name = trim(line.substr(0, equal));
        const std::string_view value = equal == line.npos ? "" : trim(line.substr(equal + 1));
        if (equal != line.npos && in_section && is_filter_name(name)) {
            applies = applies && filter_fits(name, value, machine);
        } else if (equal != line.npos && is_option_name(name)) {
            if (name.starts_with("UCX_")) name.remove_prefix(4);
            if (applies)
                content.settings.push_back({std::string(name), std::string(value), number});
        } else if (content.bad_lines++ == 0) {
            content.first_bad_line = number;
        }
    }
    return content;
}

}  // namespace ucs::config
