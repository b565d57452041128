// Prints options as text that users read and clients parse.
#include <fmt/format.h>

#include <iterator>

#include "ucs/config/source.hpp"

namespace ucs::config {
namespace {

void print_comment(std::string& into, std::string_view text) {
    while (true) {
        const std::size_t end = text.find('\n');
        fmt::format_to(std::back_inserter(into), "# {}\n", text.substr(0, end));
        if (end == text.npos) return;
        text.remove_prefix(end + 1);
    }
}

void append_header(std::string& into, std::string_view title) {
    into += "#\n";
    print_comment(into, title);
    into += "#\n\n";
}

void print_option(std::string& into, const source& from, const option& entry, unsigned flags) {
    if ((flags & print_doc) != 0) {
        into += "#\n";
        print_comment(into, entry.help);
        fmt::format_to(std::back_inserter(into), "#\n# Form:    {}\n# Default: {}\n",
                       expected_form(entry), entry.default_value);
        if (!entry.family_name.empty()) {
            fmt::format_to(std::back_inserter(into), "# Also:    UCX_{}, for the whole family\n",
                           entry.family_name);
        }
        if (const text_value* given = from.find(entry)) {
            fmt::format_to(std::back_inserter(into), "# From:    {}\n", given->where);
        }
        into += "#\n";
    }
    const bool is_default = from.find(entry) == nullptr;
    const bool commented = is_default && (flags & print_comment_default) != 0;
    fmt::format_to(std::back_inserter(into), "{}UCX_{}={}\n", commented ? "# " : "", entry.name,
                   value_text(from, entry));
    if ((flags & print_doc) != 0) into += '\n';
}

}  // namespace

std::string value_text(const source& from, const option& entry) {
    const text_value* given = from.find(entry);
    std::string printed = given != nullptr ? given->text : entry.default_value;
    if (entry.check(printed, &printed) != verdict::refused) return printed;
    printed = entry.default_value;  // load() falls back to the default, too
    (void)entry.check(printed, &printed);
    return printed;
}

std::string print(const source& from, std::span<const table* const> known, std::string_view title,
                  unsigned flags, std::string_view filter) {
    std::string text;
    if ((flags & print_header) != 0) append_header(text, title);
    if ((flags & (print_values | print_doc)) == 0) return text;
    for (const table* each : known) {
        bool titled = false;
        for (const option& entry : each->options) {
            if (entry.hidden && (flags & print_hidden) == 0) continue;
            if (std::string_view(entry.name).find(filter) == std::string_view::npos) continue;
            if (!titled && (flags & print_doc) != 0) append_header(text, each->title);
            titled = true;
            print_option(text, from, entry, flags);
        }
    }
    return text;
}

}  // namespace ucs::config
