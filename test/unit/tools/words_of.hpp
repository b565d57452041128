// Command lines of tests, written as one text.
#pragma once

#include "tools/common/text.hpp"

// Returns the words between single blanks; two blanks enclose an empty word.
inline std::vector<std::string> words_of(std::string_view line) {
    const auto pieces = tools::split(line, ' ');
    return line.empty() ? std::vector<std::string>{}
                        : std::vector<std::string>(pieces.begin(), pieces.end());
}
