// The options that all tools have in common: -h and --help, --version, and the form of the output.
#pragma once

#include <cstdint>

#include "tools/common/option_scanner.hpp"

namespace tools {

// The form of a tool's results.
enum class output_form : std::uint8_t { text, csv, json };

// The values of the standard options of a command line.
struct standard_options {
    bool help = false;                     // -h, --help
    bool version = false;                  // --version
    output_form form = output_form::text;  // --csv, --json

    // Applies the option and returns true if it is a standard one. Throws usage_error for two
    // different forms.
    bool take(const found_option& option);
    // Sets the form. Called directly by tools with an own letter for --csv.
    void choose(output_form wanted);
    // Returns whether the tool only prints a text, so that the rest of the command line does not
    // matter.
    [[nodiscard]] bool only_text() const noexcept { return help || version; }
};

// Returns the tool's own options together with --help and --version.
[[nodiscard]] option_set with_standard_options(option_set own);

// Does the same, and adds --csv and --json, for tools that print results.
[[nodiscard]] option_set with_report_options(option_set own);

}  // namespace tools
