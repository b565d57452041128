// Command lines of the tools: a table of options gives the parser, the help text, and the words
// that hand the options to another process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tools {

// One option of a command line, or a text between the options of the help. The texts outlive it.
struct option_row {
    using words = std::vector<std::string>;

    std::string_view label;  // "-T, --tokens COUNT"; empty: a text of the help
    std::string_view help;   // empty: the help does not list the option
    // Stores a value; a flag has the value "". Throws usage_error, with or without the option's
    // name at the front. Empty: the row is only for the help.
    std::function<void(std::string_view)> take{};
    // Returns the words that set the present value; none for one that needs no words.
    std::function<words()> to_words{};
    // The values of an option that may be without one, "-e [mode]": the next word is its value if
    // it is one of these.
    std::vector<std::string_view> optional_values{};
    bool ends = false;  // the words after this option and the operands do not matter

    [[nodiscard]] char letter() const noexcept;            // 0: none
    [[nodiscard]] std::string_view name() const noexcept;  // "tokens"; empty: none
    [[nodiscard]] bool has_value() const noexcept;
    // "-T"; "--tokens" if there is no letter.
    [[nodiscard]] std::string shown() const;
};

// Applies options in any order between other words: "-fv", "-s8", "-s 8", "--size 8", "--size=8";
// "--" ends them. Returns the other words. Throws usage_error that names the option.
std::vector<std::string> parse(const std::vector<option_row>& rows,
                               std::span<const std::string> arguments);
// Does the same for tools that have only options.
void parse_options_only(const std::vector<option_row>& rows, std::span<const std::string> words);

// Returns the help text, with lines of at most 100 columns.
[[nodiscard]] std::string help(const std::vector<option_row>& rows);

// Returns words that parse() converts back to the same values.
[[nodiscard]] std::vector<std::string> to_words(const std::vector<option_row>& rows);

// Parsers of values. Each takes a whole text and throws usage_error for another form or a value out
// of range; print() returns a text that the parser reads back.
struct number {
    std::uint64_t least;
    std::uint64_t most;

    std::uint64_t operator()(std::string_view text) const;
    [[nodiscard]] static std::string print(std::uint64_t value) { return std::to_string(value); }
};

struct real {
    double least;
    double most;
    std::string_view form;  // "a time in seconds", for error texts

    double operator()(std::string_view text) const;
    [[nodiscard]] static std::string print(double value);
};

// Bytes: "8", "64k", "1mb"; at most 1t.
struct byte_size {
    std::uint64_t operator()(std::string_view text) const;
};

struct any_text {
    std::string operator()(std::string_view text) const { return std::string(text); }
    [[nodiscard]] static std::string print(const std::string& value) { return value; }
};

// The index of a name: an enumerator, if the names are in the enumeration's order.
struct one_of {
    std::vector<std::string_view> names;
    std::string_view kind{};  // "algorithm ", for error texts

    std::size_t operator()(std::string_view text) const;
    [[nodiscard]] std::string print(std::size_t index) const { return std::string(names[index]); }
};

// "1,4-8": numbers and ranges, whose values grow by the factor; by one if it is 1.
struct number_list {
    std::function<std::uint64_t(std::string_view)> parse_one;
    char dash = '-';
    std::uint64_t factor = 1;
    bool own_factor = false;  // a range may have a factor: "8:1m:4"

    std::vector<std::uint64_t> operator()(std::string_view text) const;
};

// Processors: "0,2-5".
[[nodiscard]] std::vector<unsigned> parse_cpus(std::string_view text);

// A text between the options of the help, with its line breaks.
[[nodiscard]] inline option_row help_line(std::string_view text) {
    return {{}, text};
}

// An option that sets `into`.
[[nodiscard]] option_row flag(std::string_view label, bool& into, std::string_view help);

// An option whose value is parsed into `into`.
template<class Value, class Parser>
[[nodiscard]] option_row value(std::string_view label, Value& into, Parser parser,
                               std::string_view help) {
    option_row row{label, help, [&into, parser](std::string_view text) {
                       into = static_cast<Value>(parser(text));
                   }};
    if constexpr (requires { &Parser::print; }) {
        using parsed = std::decay_t<decltype(parser(label))>;
        row.to_words = [&into, parser, name = row.shown()]() -> option_row::words {
            std::string text;
            if constexpr (requires { into.has_value(); }) {
                if (into) text = parser.print(static_cast<parsed>(*into));
            } else {
                text = parser.print(static_cast<parsed>(into));
            }
            return text.empty() ? option_row::words{} : option_row::words{name, std::move(text)};
        };
    }
    return row;
}

// An option of OpenUCX's tool that is refused with this reason.
[[nodiscard]] option_row refuse(std::string_view label, std::string_view reason);

// The form of a tool's results.
enum class output_form : std::uint8_t { text, csv, json };

// The values of the options that all tools have in common.
struct standard_options {
    bool help = false;                     // -h, --help
    bool version = false;                  // --version
    output_form form = output_form::text;  // --csv, --json

    // Returns whether the tool only prints a text, so that the rest of the command line does not
    // matter.
    [[nodiscard]] bool only_text() const noexcept { return help || version; }
};

// --help, --version and, with the tool's own letter, --csv and --json. Two forms exclude each
// other.
[[nodiscard]] option_row help_option(standard_options& into);
[[nodiscard]] option_row version_option(standard_options& into, std::string_view help);
[[nodiscard]] option_row csv_option(std::string_view label, standard_options& into);
[[nodiscard]] option_row json_option(standard_options& into);

// Runs the body of main(). Returns its exit status, or prints an exception as one line and returns
// the exit status of its kind.
int run_tool(std::string_view name, const std::function<int()>& body);

}  // namespace tools
