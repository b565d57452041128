// Scans "-x value" and "--name value" options like getopt.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tools {

// One option of a command line, with its value if it takes one.
struct found_option {
    char letter = 0;
    std::string value;
};

// A long name of an option, without its dashes. It stands for the letter, which need not be
// printable: an option may have a long name only.
struct long_option {
    std::string_view name;
    char letter;
};

// The options that a scanner accepts.
struct option_set {
    std::string flags;   // letters without a value
    std::string valued;  // letters with a value
    std::vector<long_option> names;
};

// Reads options in any order between other words: "-fv", "-s8", "-s 8", "--size 8", "--size=8";
// "--" ends them. No global state, so files and network input are scanned by the same code. Throws
// usage_error for an unknown option, a missing value, and a value that the option does not take.
class option_scanner {
public:
    option_scanner(std::span<const std::string> arguments, option_set known);
    option_scanner(std::span<const std::string> arguments, std::string_view flags,
                   std::string_view valued);

    // The next option, or nullopt at the end.
    [[nodiscard]] std::optional<found_option> next();

    // For options with an optional value: takes the word that follows when it is one of these.
    [[nodiscard]] std::optional<std::string> take_if_one_of(
        std::initializer_list<std::string_view> values);

    // The words that are not options; complete after next() has returned nullopt.
    [[nodiscard]] const std::vector<std::string>& operands() const noexcept { return operands_; }

private:
    // Returns the next word that begins with a dash, without the dash. Stores operands before it.
    [[nodiscard]] std::optional<std::string_view> next_option_word();
    [[nodiscard]] found_option read_letter();
    [[nodiscard]] found_option read_name(std::string_view word);
    [[nodiscard]] std::string next_word(std::string_view option);
    [[nodiscard]] const long_option& find_name(std::string_view name) const;

    std::span<const std::string> rest_;
    std::string_view group_;  // the rest of "-fvs8"
    option_set known_;
    std::vector<std::string> operands_;
};

}  // namespace tools
