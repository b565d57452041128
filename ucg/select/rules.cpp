#include "ucg/select/rules.hpp"

#include <limits>

#include "ucs/config/text.hpp"
#include "ucs/config/units.hpp"

namespace ucg::select {

std::optional<rules> rules::parse(std::string_view text) {
    rules made;
    for (const std::string& each : ucs::config::split(text, ',')) {
        auto read = parse_rule(each);
        if (!read) return std::nullopt;
        made.rules_.push_back(std::move(*read));
    }
    return made;
}

// [SIZES[@RANKS]:]NAME
std::optional<rules::rule> rules::parse_rule(std::string_view text) {
    constexpr range everything{0, std::numeric_limits<double>::infinity()};
    rule made{everything, everything, {}};
    const std::size_t colon = text.find(':');
    if (colon != text.npos) {
        std::string_view where = text.substr(0, colon);
        const std::size_t separator = where.find('@');
        if (separator != where.npos) {
            const auto ranks = parse_range(where.substr(separator + 1));
            if (!ranks) return std::nullopt;
            made.ranks = *ranks;
            where = where.substr(0, separator);
        }
        if (!where.empty()) {
            const auto bytes = parse_range(where);
            if (!bytes) return std::nullopt;
            made.bytes = *bytes;
        }
        text.remove_prefix(colon + 1);
    }
    made.name = ucs::config::trim(text);
    if (made.name.empty()) return std::nullopt;
    return made;
}

// LOWEST-HIGHEST or one number.
std::optional<rules::range> rules::parse_range(std::string_view text) {
    const auto number = [](std::string_view part) -> std::optional<double> {
        if (ucs::config::trim(part) == "inf") return std::numeric_limits<double>::infinity();
        const auto bytes = ucs::config::parse_bytes(ucs::config::trim(part));
        if (!bytes) return std::nullopt;
        return static_cast<double>(*bytes);
    };
    const std::size_t dash = text.find('-');
    const auto lowest = number(text.substr(0, dash));
    const auto highest = dash == text.npos ? lowest : number(text.substr(dash + 1));
    if (!lowest || !highest || *lowest > *highest) return std::nullopt;
    return range{*lowest, *highest};
}

std::string_view rules::name_for(double bytes, schedule::rank_t ranks) const noexcept {
    for (const rule& each : rules_)
        if (each.bytes.has(bytes) && each.ranks.has(ranks)) return each.name;
    return {};
}

}  // namespace ucg::select
