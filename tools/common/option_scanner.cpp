#include "tools/common/option_scanner.hpp"

#include <algorithm>

#include "tools/common/failure.hpp"

namespace tools {

option_scanner::option_scanner(std::span<const std::string> arguments, std::string_view flags,
                               std::string_view valued)
    : rest_(arguments), flags_(flags), valued_(valued) {}

bool option_scanner::find_next_group() {
    while (!rest_.empty()) {
        const std::string& word = rest_.front();
        rest_ = rest_.subspan(1);
        if (word == "--") {
            operands_.insert(operands_.end(), rest_.begin(), rest_.end());
            rest_ = {};
        } else if (word.size() > 1 && word.front() == '-') {
            group_ = std::string_view(word).substr(1);
            return true;
        } else {
            operands_.push_back(word);
        }
    }
    return false;
}

std::optional<found_option> option_scanner::next() {
    if (group_.empty() && !find_next_group()) return std::nullopt;
    found_option found{group_.front(), {}};
    group_.remove_prefix(1);
    if (flags_.find(found.letter) != std::string_view::npos) return found;
    if (valued_.find(found.letter) == std::string_view::npos) {
        throw usage_error(std::string("unknown option -") + found.letter);
    }
    if (!group_.empty()) {
        found.value = group_;
        group_ = {};
    } else if (!rest_.empty()) {
        found.value = rest_.front();
        rest_ = rest_.subspan(1);
    } else {
        throw usage_error(std::string("option -") + found.letter + " needs a value");
    }
    return found;
}

std::optional<std::string> option_scanner::take_if_one_of(
    std::initializer_list<std::string_view> values) {
    if (!group_.empty() || rest_.empty()) return std::nullopt;
    if (std::find(values.begin(), values.end(), rest_.front()) == values.end()) {
        return std::nullopt;
    }
    std::string taken = rest_.front();
    rest_ = rest_.subspan(1);
    return taken;
}

}  // namespace tools
