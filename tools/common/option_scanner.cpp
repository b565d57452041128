#include "tools/common/option_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/common/failure.hpp"
#include "tools/common/nearest.hpp"

namespace tools {
namespace {

bool contains(std::string_view letters, char letter) noexcept {
    return letters.find(letter) != std::string_view::npos;
}

}  // namespace

option_scanner::option_scanner(std::span<const std::string> arguments, option_set known)
    : rest_(arguments), known_(std::move(known)) {}

option_scanner::option_scanner(std::span<const std::string> arguments, std::string_view flags,
                               std::string_view valued)
    : option_scanner(arguments, option_set{std::string(flags), std::string(valued), {}}) {}

std::optional<std::string_view> option_scanner::next_option_word() {
    while (!rest_.empty()) {
        const std::string& word = rest_.front();
        rest_ = rest_.subspan(1);
        if (word == "--") {
            operands_.insert(operands_.end(), rest_.begin(), rest_.end());
            rest_ = {};
        } else if (word.size() > 1 && word.front() == '-') {
            return std::string_view(word).substr(1);
        } else {
            operands_.push_back(word);
        }
    }
    return std::nullopt;
}

std::optional<found_option> option_scanner::next() {
    if (group_.empty()) {
        const auto word = next_option_word();
        if (!word) return std::nullopt;
        if (word->front() == '-') return read_name(word->substr(1));
        group_ = *word;
    }
    return read_letter();
}

found_option option_scanner::read_letter() {
    found_option found{group_.front(), {}};
    group_.remove_prefix(1);
    if (contains(known_.flags, found.letter)) return found;
    if (!contains(known_.valued, found.letter)) {
        throw usage_error(fmt::format("unknown option -{}", found.letter));
    }
    found.value = group_.empty() ? next_word(fmt::format("-{}", found.letter)) : group_;
    group_ = {};
    return found;
}

found_option option_scanner::read_name(std::string_view word) {
    const std::size_t sign = word.find('=');
    const bool has_value = sign != std::string_view::npos;
    const long_option& option = find_name(word.substr(0, sign));
    const std::string shown = fmt::format("--{}", option.name);
    if (contains(known_.flags, option.letter)) {
        if (has_value) throw usage_error(fmt::format("option {} takes no value", shown));
        return {option.letter, {}};
    }
    return {option.letter, has_value ? std::string(word.substr(sign + 1)) : next_word(shown)};
}

const long_option& option_scanner::find_name(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const long_option& each : known_.names) {
        if (each.name == name) return each;
        names.push_back(each.name);
    }
    const std::string_view close = nearest(name, names);
    throw usage_error(fmt::format("unknown option --{}{}", name,
                                  close.empty() ? "" : fmt::format("; did you mean --{}?", close)));
}

std::string option_scanner::next_word(std::string_view option) {
    if (rest_.empty()) throw usage_error(fmt::format("option {} needs a value", option));
    std::string word = rest_.front();
    rest_ = rest_.subspan(1);
    return word;
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
