// Walks over "-x value" options the way users of getopt expect.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tools {

// One option as found, with its value when it takes one.
struct found_option {
    char letter = 0;
    std::string value;
};

// Reads single-letter options in any order between other words: "-fv", "-s8", "-s 8", "--" ends
// them. No global state, so files and network input are scanned by the same code. Throws
// usage_error for an unknown letter or a missing value.
class option_scanner {
public:
    // `flags` are letters without a value, `valued` letters with one.
    option_scanner(std::span<const std::string> arguments, std::string_view flags,
                   std::string_view valued);

    // The next option, or nullopt at the end.
    [[nodiscard]] std::optional<found_option> next();

    // For options with an optional value: takes the word that follows when it is one of these.
    [[nodiscard]] std::optional<std::string> take_if_one_of(
        std::initializer_list<std::string_view> values);

    // Words that are not options; complete after next() returned nullopt.
    [[nodiscard]] const std::vector<std::string>& operands() const noexcept { return operands_; }

private:
    [[nodiscard]] bool find_next_group();

    std::span<const std::string> rest_;
    std::string_view group_;  // what is left of "-fvs8"
    std::string flags_;
    std::string valued_;
    std::vector<std::string> operands_;
};

}  // namespace tools
