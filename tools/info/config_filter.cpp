#include "tools/info/config_filter.hpp"

#include <algorithm>
#include <cctype>

#include "tools/common/text.hpp"

namespace tools::info {
namespace {

std::string upper(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return result;
}

// Returns the name of the variable that the line sets, commented out or not; empty for other lines.
std::string_view variable_of(std::string_view line) {
    if (line.substr(0, 2) == "# ") line.remove_prefix(2);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return {};
    const std::string_view name = line.substr(0, equals);
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char letter) {
        const auto code = static_cast<unsigned char>(letter);
        return std::isupper(code) != 0 || std::isdigit(code) != 0 || letter == '_';
    });
    return plain ? name : std::string_view{};
}

}  // namespace

std::string filter_config(std::string_view text, std::string_view part) {
    const std::string opts = upper(part);
    std::string result;
    std::string description;
    for (const std::string_view line : split(text, '\n')) {
        const std::string_view variable = variable_of(line);
        if (!variable.empty()) {
            if (variable.find(opts) != std::string_view::npos) {
                result.append(description).append(line).append("\n");
            }
            description.clear();
        } else if (line.empty()) {
            description.clear();
        } else {
            description.append(line).append("\n");
        }
    }
    return result;
}

}  // namespace tools::info
