// Options as the text that people read and clients parse.
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

void print_option(std::string& into, const source& from, const option& which, unsigned flags) {
    if ((flags & print_doc) != 0) {
        into += "#\n";
        print_comment(into, which.help);
        fmt::format_to(std::back_inserter(into), "#\n# Form:    {}\n# Default: {}\n",
                       expected_form(which), which.default_value);
        if (!which.family_name.empty()) {
            fmt::format_to(std::back_inserter(into), "# Also:    UCX_{}, for the whole family\n",
                           which.family_name);
        }
        if (const text_value* given = from.find(which)) {
            fmt::format_to(std::back_inserter(into), "# From:    {}\n", given->where);
        }
        into += "#\n";
    }
    const bool is_default = from.find(which) == nullptr;
    const bool commented = is_default && (flags & print_comment_default) != 0;
    fmt::format_to(std::back_inserter(into), "{}UCX_{}={}\n", commented ? "# " : "", which.name,
                   value_text(from, which));
    if ((flags & print_doc) != 0) into += '\n';
}

}  // namespace

std::string value_text(const source& from, const option& which) {
    const text_value* given = from.find(which);
    std::string printed = given != nullptr ? given->text : which.default_value;
    if (which.check(printed, &printed) != verdict::refused) return printed;
    printed = which.default_value;  // what load() falls back to
    (void)which.check(printed, &printed);
    return printed;
}

std::string print(const source& from, std::span<const table* const> known, std::string_view title,
                  unsigned flags, std::string_view filter) {
    std::string text;
    if ((flags & print_header) != 0) append_header(text, title);
    if ((flags & (print_values | print_doc)) == 0) return text;
    for (const table* each : known) {
        bool titled = false;
        for (const option& which : each->options) {
            if (which.hidden && (flags & print_hidden) == 0) continue;
            if (std::string_view(which.name).find(filter) == std::string_view::npos) continue;
            if (!titled && (flags & print_doc) != 0) append_header(text, each->title);
            titled = true;
            print_option(text, from, which, flags);
        }
    }
    return text;
}

}  // namespace ucs::config
