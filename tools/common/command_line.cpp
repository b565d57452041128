#include "tools/common/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "tools/common/failure.hpp"
#include "tools/common/text.hpp"

namespace tools {
namespace {

constexpr std::size_t help_column = 15;
constexpr std::size_t help_width = 100;

// Applies the options of a command line, word by word.
class reader {
public:
    reader(const std::vector<option_row>& rows, std::span<const std::string> arguments)
        : rows_(rows), rest_(arguments) {}

    std::vector<std::string> read() {
        while (!rest_.empty()) {
            const std::string_view word = take_word();
            if (word == "--") {
                operands_.insert(operands_.end(), rest_.begin(), rest_.end());
                rest_ = {};
            } else if (word.size() < 2 || word.front() != '-') {
                operands_.emplace_back(word);
            } else if (word[1] == '-') {
                read_name(word.substr(2));
            } else {
                read_letters(word.substr(1));
            }
        }
        return std::move(operands_);
    }

private:
    std::string_view take_word() {
        const std::string_view word = rest_.front();
        rest_ = rest_.subspan(1);
        return word;
    }
    std::string_view take_value(std::string_view option) {
        if (rest_.empty()) throw usage_error(fmt::format("option {} needs a value", option));
        return take_word();
    }

    // "fvs8", the letters of one word.
    void read_letters(std::string_view letters) {
        while (!letters.empty()) {
            const option_row& row = find(letters.front());
            letters.remove_prefix(1);
            std::string_view text;
            if (row.has_value()) {
                text = letters.empty() ? take_value(row.shown()) : letters;
                letters = {};
            } else if (letters.empty() && !rest_.empty() &&
                       std::ranges::count(row.optional_values, rest_.front()) != 0) {
                text = take_word();
            }
            apply(row, text);
            if (row.ends) return;
        }
    }

    // "name" or "name=value".
    void read_name(std::string_view word) {
        const std::size_t sign = word.find('=');
        const option_row& row = find(word.substr(0, sign));
        const std::string shown = fmt::format("--{}", row.name());
        if (sign == std::string_view::npos) {
            apply(row, row.has_value() ? take_value(shown) : "");
        } else if (row.has_value()) {
            apply(row, word.substr(sign + 1));
        } else {
            throw usage_error(fmt::format("option {} takes no value", shown));
        }
    }

    [[nodiscard]] const option_row& find(char letter) const {
        for (const option_row& row : rows_)
            if (row.take && row.letter() == letter) return row;
        throw usage_error(fmt::format("unknown option -{}", letter));
    }

    [[nodiscard]] const option_row& find(std::string_view name) const {
        std::vector<std::string_view> names;
        for (const option_row& row : rows_) {
            if (row.name().empty()) continue;
            if (row.name() == name) return row;
            names.push_back(row.name());
        }
        const std::string_view close = nearest(name, names);
        throw usage_error(
            fmt::format("unknown option --{}{}", name,
                        close.empty() ? "" : fmt::format("; did you mean --{}?", close)));
    }

    void apply(const option_row& row, std::string_view text) {
        try {
            row.take(text);
        } catch (const usage_error& error) {
            const std::string_view reason = error.what();
            if (reason.starts_with('-')) throw;
            throw usage_error(fmt::format("{}: {}", row.shown(), reason));
        }
        if (!row.ends) return;
        rest_ = {};
        operands_.clear();
    }

    const std::vector<option_row>& rows_;
    std::span<const std::string> rest_;
    std::vector<std::string> operands_;
};

// Appends words after the help column; the text so far ends at that column.
void append_wrapped(std::string& to, std::string_view help) {
    std::size_t column = help_column;
    for (const std::string_view word : words(help)) {
        if (column > help_column && column + 1 + word.size() > help_width) {
            to += '\n';
            to.append(help_column, ' ');
            column = help_column;
        } else if (column > help_column) {
            to += ' ';
            ++column;
        }
        to += word;
        column += word.size();
    }
    to += '\n';
}

void choose(standard_options& into, output_form form) {
    if (into.form != output_form::text && into.form != form) {
        throw usage_error("--csv and --json exclude each other");
    }
    into.form = form;
}

}  // namespace

char option_row::letter() const noexcept {
    return label.size() > 1 && label[1] != '-' ? label[1] : '\0';
}

std::string_view option_row::name() const noexcept {
    const std::size_t dashes = label.find("--");
    if (dashes == std::string_view::npos) return {};
    const std::string_view rest = label.substr(dashes + 2);
    return rest.substr(0, rest.find(' '));
}

bool option_row::has_value() const noexcept {
    const std::string_view last = label.substr(label.rfind(' ') + 1);
    return !last.starts_with('-') && !last.starts_with('[');
}

std::string option_row::shown() const {
    return letter() == '\0' ? fmt::format("--{}", name()) : fmt::format("-{}", letter());
}

std::vector<std::string> parse(const std::vector<option_row>& rows,
                               std::span<const std::string> arguments) {
    return reader(rows, arguments).read();
}

void parse_options_only(const std::vector<option_row>& rows, std::span<const std::string> words) {
    const std::vector<std::string> operands = parse(rows, words);
    if (!operands.empty()) {
        throw usage_error(fmt::format("\"{}\" is not an option", operands.front()));
    }
}

std::string help(const std::vector<option_row>& rows) {
    std::string text;
    for (const option_row& row : rows) {
        if (row.label.empty()) {
            text += fmt::format("{}\n", row.help);
        } else if (!row.help.empty()) {
            const bool fits = row.label.size() + 4 <= help_column;
            text += fits ? fmt::format("  {:<{}}", row.label, help_column - 2)
                         : fmt::format("  {}\n{:{}}", row.label, "", help_column);
            append_wrapped(text, row.help);
        }
    }
    return text;
}

std::vector<std::string> to_words(const std::vector<option_row>& rows) {
    std::vector<std::string> all;
    for (const option_row& row : rows) {
        if (!row.to_words) continue;
        const option_row::words made = row.to_words();
        all.insert(all.end(), made.begin(), made.end());
    }
    return all;
}

std::uint64_t number::operator()(std::string_view text) const {
    const auto found = parse_count(text);
    if (!found || *found < least || *found > most) {
        throw usage_error(fmt::format("\"{}\" is not a number from {} to {}", text, least, most));
    }
    return *found;
}

double real::operator()(std::string_view text) const {
    const auto found = parse_real(text);
    if (!found || *found < least || *found > most) {
        throw usage_error(fmt::format("\"{}\" is not {}", text, form));
    }
    return *found;
}

std::string real::print(double value) {
    return fmt::format("{:.6f}", value);
}

std::uint64_t byte_size::operator()(std::string_view text) const {
    const auto found = parse_size(text);
    if (!found || *found > std::uint64_t{1} << 40U) {
        throw usage_error(fmt::format("\"{}\" is not a size up to 1t", text));
    }
    return *found;
}

std::size_t one_of::operator()(std::string_view text) const {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) throw usage_error(fmt::format("{}{}", kind, none_of(text, names)));
    return static_cast<std::size_t>(found - names.begin());
}

std::vector<std::uint64_t> number_list::operator()(std::string_view text) const {
    std::vector<std::uint64_t> made;
    for (const std::string_view piece : split(text, ',')) {
        const auto ends = split(piece, dash);
        if (ends.size() > (own_factor ? 3 : 2)) {
            throw usage_error(fmt::format("\"{}\" is not a range", piece));
        }
        const std::uint64_t first = parse_one(ends.front());
        const std::uint64_t last = ends.size() > 1 ? parse_one(ends[1]) : first;
        const std::uint64_t growth = ends.size() > 2 ? number{2, 1024}(ends[2]) : factor;
        if (first > last || (first == 0 && growth > 1 && ends.size() > 1)) {
            throw usage_error(fmt::format("the range \"{}\" is empty", piece));
        }
        made.push_back(first);
        while (growth == 1 ? made.back() < last : made.back() != 0 && made.back() <= last / growth)
            made.push_back(growth == 1 ? made.back() + 1 : made.back() * growth);
    }
    return made;
}

std::vector<unsigned> parse_cpus(std::string_view text) {
    const auto numbers = number_list{number{0, 65536}}(text);
    return {numbers.begin(), numbers.end()};
}

option_row flag(std::string_view label, bool& into, std::string_view help) {
    option_row row{label, help, [&into](std::string_view) { into = true; }};
    row.to_words = [&into, name = row.shown()] {
        return into ? option_row::words{name} : option_row::words{};
    };
    return row;
}

option_row refuse(std::string_view label, std::string_view reason) {
    return {label, {}, [reason](std::string_view) { throw usage_error(std::string(reason)); }};
}

option_row help_option(standard_options& into) {
    option_row row = flag("-h, --help", into.help, "this text");
    row.ends = true;
    return row;
}

option_row version_option(standard_options& into, std::string_view help) {
    option_row row = flag("--version", into.version, help);
    row.ends = true;
    return row;
}

option_row csv_option(std::string_view label, standard_options& into) {
    return {label, "comma-separated values",
            [&into](std::string_view) { choose(into, output_form::csv); }};
}

option_row json_option(standard_options& into) {
    return {"--json",
            "one JSON document: the conditions of the run (versions, the libraries' paths, host, "
            "binding, settings) and a row for each result",
            [&into](std::string_view) { choose(into, output_form::json); }};
}

int run_tool(std::string_view name, const std::function<int()>& body) {
    int status = exit_failure;
    try {
        status = body();
    } catch (const usage_error& error) {
        fmt::print(stderr, "{}: {} (-h shows the options)\n", name, error.what());
        status = exit_usage;
    } catch (const std::exception& error) {
        std::fflush(stdout);
        fmt::print(stderr, "{}: {}\n", name, error.what());
    }
    return std::fflush(stdout) == 0 ? status : exit_failure;
}

}  // namespace tools
